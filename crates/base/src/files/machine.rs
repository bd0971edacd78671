//! Which machine this is, for temporary names.

use std::sync::OnceLock;

/// Files that tell machines apart, and stay the same when one starts anew. Clones share the first, and containers of one
/// image may lack it.
const TELLING: [&str; 2] = ["/etc/machine-id", "/proc/sys/kernel/hostname"];

/// A few letters, as good as none other's. Where a system does not tell, the same everywhere.
pub(super) fn machine() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let told = TELLING.map(|path| std::fs::read(path).unwrap_or_default());
        // Hashed, because a machine's id is not for others to see.
        let mut hash = blake3::Hasher::new_derive_key("warpscope 2025 temporary names of a machine");
        for text in told {
            hash.update(&text.len().to_le_bytes()).update(&text);
        }
        hash.finalize().to_hex()[..8].to_owned()
    })
}
