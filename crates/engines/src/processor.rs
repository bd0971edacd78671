//! Describes the processor, for the engines that run on it.

/// Details of a [`crate::knn::DeviceInfo`]: the processor's model, if it reports one, and the number of threads in the pool.
pub fn details() -> Vec<(String, String)> {
    let threads = ("threads".to_owned(), rayon::current_num_threads().to_string());
    model().map(|model| ("processor".to_owned(), model)).into_iter().chain([threads]).collect()
}

/// The processor's model, if it reports one.
#[cfg(target_arch = "x86_64")]
pub fn model() -> Option<String> {
    let brand = raw_cpuid::CpuId::new().get_processor_brand_string()?;
    let plain = brand.as_str().replace("(R)", "").replace("(TM)", "").replace("(tm)", "");
    let model = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    (!model.is_empty()).then_some(model)
}

#[cfg(not(target_arch = "x86_64"))]
pub fn model() -> Option<String> {
    None
}
