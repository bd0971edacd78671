//! Random numbers of which a seed gives the same ones everywhere: they decide what is asked.

/// A generator of random numbers: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// One that a seed begins.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, each as likely as another; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        // For the small numbers of a lesson, the bias of the multiplication is below 2⁻⁴⁰.
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// True or false.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Puts things into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for end in (2..=things.len()).rev() {
            let chosen = self.below(end);
            things.swap(end - 1, chosen);
        }
    }

    /// One of some things; `None` if there are none.
    pub fn one<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_up_about_as_often() {
        let (mut random, mut orders) = (Random::new(1), std::collections::BTreeMap::new());
        for _ in 0..6000 {
            let mut things = [0, 1, 2];
            random.shuffle(&mut things);
            *orders.entry(things).or_insert(0) += 1;
        }
        assert!(orders.len() == 6 && orders.values().all(|times| (850..1150).contains(times)), "{orders:?}");
    }

    /// The first numbers of the reference implementation.
    #[test]
    fn a_seed_gives_the_same_numbers_everywhere() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!(Random::new(0).below(0), 0);
        assert_eq!(Random::new(0).one::<u8>(&[]), None);
    }
}
