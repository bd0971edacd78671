//! Words that go with numbers.

use crate::cloud::Order;

/// What a bound needs, where it holds only for points in random order.
pub fn if_shuffled(order: Order) -> &'static str {
    match order {
        Order::Shuffled => "",
        Order::File => " if shuffled",
    }
}
