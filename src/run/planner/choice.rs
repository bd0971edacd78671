//! The rule that chooses.

/// Shorter than this is at once: who tells more is taken.
pub const AT_ONCE_MS: f64 = 5.0;

/// How much longer than the fastest an engine that tells more may take.
pub const MOST_LONGER: f64 = 2.0;

/// What an engine that can take a job offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Of the whole job.
    pub total_ms: f64,
    /// Of one pass.
    pub search_ms: f64,
    /// How much it tells beside neighbours and times: nothing, counters, counters and a profile that was asked for.
    pub tells: u8,
}

/// Which of the offers is taken: of those that are at most [`MOST_LONGER`] times as long as the fastest, or at once, those that
/// tell most; and of these the fastest, or where it is at once, the first.
///
/// A pass is held against the fastest's pass, too: where points are yet to be taken in, that is mostly the same for all, and what
/// comes after it is what one waits for again and again.
pub fn best(offers: &[Offer]) -> Option<usize> {
    let fastest = offers.iter().min_by(|a, b| a.total_ms.total_cmp(&b.total_ms))?;
    let near = |ms: f64, of: f64| ms < AT_ONCE_MS || ms <= MOST_LONGER * of;
    let fit = |offer: &Offer| near(offer.total_ms, fastest.total_ms) && near(offer.search_ms, fastest.search_ms);
    let most = offers.iter().filter(|offer| fit(offer)).map(|offer| offer.tells).max()?;
    let key = |offer: &Offer| if offer.total_ms < AT_ONCE_MS && most > 0 { 0.0 } else { offer.total_ms };
    let taken = offers.iter().enumerate().filter(|(_, offer)| fit(offer) && offer.tells == most);
    taken.min_by(|(_, a), (_, b)| key(a).total_cmp(&key(b))).map(|(at, _)| at)
}
