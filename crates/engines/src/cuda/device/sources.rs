//! The device code as text, for display.

/// A source file that the lesson quotes, by its path below `cuda/`.
pub fn source_of(file: &str) -> Option<&'static str> {
    match file {
        "warp/bitonic.cuh" => Some(include_str!("../../../../../cuda/warp/bitonic.cuh")),
        "warp/candidate_buffer.cuh" => Some(include_str!("../../../../../cuda/warp/candidate_buffer.cuh")),
        "direct/warp_knn.cuh" => Some(include_str!("../../../../../cuda/direct/warp_knn.cuh")),
        "index/boxes.cuh" => Some(include_str!("../../../../../cuda/index/boxes.cuh")),
        "index/nearest.cuh" => Some(include_str!("../../../../../cuda/index/nearest.cuh")),
        "index/traverse.cuh" => Some(include_str!("../../../../../cuda/index/traverse.cuh")),
        "select/multi_pass.cuh" => Some(include_str!("../../../../../cuda/select/multi_pass.cuh")),
        "select/warp_select.cuh" => Some(include_str!("../../../../../cuda/select/warp_select.cuh")),
        "warp/network.cuh" => Some(include_str!("../../../../../cuda/warp/network.cuh")),
        _ => None,
    }
}
