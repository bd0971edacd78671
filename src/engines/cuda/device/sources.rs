//! The device code as text, for display.

/// A source file that the lesson quotes, by its path below `cuda/`.
pub fn source_of(file: &str) -> Option<&'static str> {
    match file {
        "warp/bitonic.cuh" => Some(include_str!("../../../../cuda/warp/bitonic.cuh")),
        "warp/candidate_buffer.cuh" => Some(include_str!("../../../../cuda/warp/candidate_buffer.cuh")),
        "direct/warp_knn.cuh" => Some(include_str!("../../../../cuda/direct/warp_knn.cuh")),
        _ => None,
    }
}
