#![no_main]

warpscope_fuzz::program!("run_json");
