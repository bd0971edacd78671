//! The rule that picks an engine: among those about as fast as the fastest, the one that reports most.

/// How much slower than the fastest an engine that reports more may be. Either limit suffices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leeway {
    /// A pass shorter than this, in milliseconds, is fast enough whatever the fastest takes.
    pub short_ms: f64,
    /// The largest ratio of its time to that of the fastest.
    pub times: f64,
}

impl Leeway {
    pub const MEASURE: Self = Self { short_ms: 5.0, times: 2.0 };

    /// The user is waiting, so only a difference too short to notice is allowed.
    pub const ASK: Self = Self { short_ms: INSTANT_MS, times: 1.0 };
}

/// Passes shorter than this, in milliseconds, appear equally fast: of engines that report equally much, the first is picked.
pub const INSTANT_MS: f64 = 1.0;

/// What the rule knows about an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Milliseconds to load the points; 0 if the engine already has them.
    pub setup_ms: f64,
    /// Milliseconds of one pass over the queries.
    pub search_ms: f64,
    /// Milliseconds of the whole job.
    pub total_ms: f64,
    /// How much it reports besides neighbours and times: one each for counters, how `max_distance` converges, and a profile, if that was
    /// asked for.
    pub tells: u8,
}

impl Offer {
    /// Whether it may be picked instead of the fastest. Passes are compared by themselves rather than as part of the total: loading
    /// the points takes most engines about equally long, and happens once, while the user waits for every later pass.
    pub fn is_close_to(&self, fastest: &Self, leeway: Leeway) -> bool {
        let close = |ms: f64, to: f64| ms < leeway.short_ms || ms <= leeway.times * to;
        close(self.search_ms, fastest.search_ms) && close(self.setup_ms, fastest.total_ms)
    }
}

/// The index of the offer to pick: of those close to the fastest, those that report most, and of these the fastest.
pub fn best(offers: &[Offer], leeway: Leeway) -> Option<usize> {
    let fastest = offers.iter().min_by(|a, b| a.total_ms.total_cmp(&b.total_ms))?;
    let most = offers.iter().filter(|offer| offer.is_close_to(fastest, leeway)).map(|offer| offer.tells).max()?;
    if most == fastest.tells && most == 0 {
        return offers.iter().position(|offer| offer == fastest);
    }
    let key = |offer: &Offer| if offer.search_ms < INSTANT_MS { 0.0 } else { offer.total_ms };
    let taken = offers.iter().enumerate().filter(|(_, offer)| offer.tells == most && offer.is_close_to(fastest, leeway));
    taken.min_by(|(_, a), (_, b)| key(a).total_cmp(&key(b))).map(|(at, _)| at)
}
