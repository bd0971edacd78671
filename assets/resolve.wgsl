// From the point of each pixel to its colour. After look.wgsl.

@group(0) @binding(0) var<uniform> look: Look;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read> most: array<u32>;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let at = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    return vec4<f32>(at * 2.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let pixel = u32(position.y) * look.width + u32(position.x);
    let at = ids[pixel] - 1u - look.first;
    // Another buffer's point, or none: 0 − 1 is beyond every buffer.
    if at >= look.count {
        discard;
    }
    var value = 0.0;
    if look.painted != 0u {
        value = values[at];
    }
    var color = colored(value);
    if look.dense_shows != 0u {
        // One point is clearly seen alone, and most points on one pixel are full ink; between them equal factors are equal steps.
        let steps = log2(max(f32(most[0]), 1.0));
        let filled = log2(max(f32(counts[pixel]), 1.0)) / max(steps, 1.0);
        let least = max(1.0 - 0.12 * steps, 0.4);
        if look.painted == 0u {
            color = mix(color, look.dense, filled * (1.0 - least) / 0.6);
        }
        color *= mix(least, 1.0, filled);
    }
    return color * look.opacity;
}
