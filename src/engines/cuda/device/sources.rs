//! The parts of the kernel as text, for those who want to read them.

/// A part that the lesson's lines are found in, by the path of its file below `cuda/`.
pub fn source_of(file: &str) -> Option<&'static str> {
    match file {
        "warp/bitonic.cuh" => Some(include_str!("../../../../cuda/warp/bitonic.cuh")),
        "warp/candidate_buffer.cuh" => Some(include_str!("../../../../cuda/warp/candidate_buffer.cuh")),
        "direct/warp_knn.cuh" => Some(include_str!("../../../../cuda/direct/warp_knn.cuh")),
        _ => None,
    }
}
