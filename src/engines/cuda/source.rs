//! The parts of the kernel as text, for those who want to read them.

/// A part that the lesson's lines are found in, by the name of its file in `cuda/`.
pub fn source_of(file: &str) -> Option<&'static str> {
    match file {
        "bitonic.cuh" => Some(include_str!("../../../cuda/bitonic.cuh")),
        "candidate_buffer.cuh" => Some(include_str!("../../../cuda/candidate_buffer.cuh")),
        "warp_knn.cuh" => Some(include_str!("../../../cuda/warp_knn.cuh")),
        _ => None,
    }
}
