// From the point of each pixel to its colour. After look.wgsl.

// Storage, not uniform: see splat.wgsl.
@group(0) @binding(0) var<storage, read> look: Look;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read> most: array<u32>;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let at = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    return vec4<f32>(at * 2.0 - 1.0, 0.0, 1.0);
}

// Rises that begin to darken and that darken most, as height by width, and the darkest that a colour becomes.
const GENTLE = 0.5;
const STEEPEST = 4.0;
const DARKEST = 0.4;

// The nearness of the layer's point on a pixel, as 1 / distance; 0 if there is none.
fn nearness(pixel: vec2<i32>) -> f32 {
    if any(pixel < vec2<i32>(0)) || pixel.x >= i32(look.width) || pixel.y >= i32(look.height) {
        return 0.0;
    }
    let key = counts[u32(pixel.y) * look.width + u32(pixel.x)];
    if key == 0u || key >> 30u != look.rank {
        return 0.0;
    }
    return 1.0 / bitcast<f32>((0x3fffffffu - (key & 0x3fffffffu)) << 1u);
}

// Eye-dome lighting (Boucheny 2009): a pixel is as dark as those around it rise towards the eye. A rise is measured in pixels, so that the
// picture is equally dark from near and far.
fn eye_dome(pixel: vec2<i32>) -> f32 {
    let here = nearness(pixel);
    if here <= 0.0 {
        return 1.0;
    }
    var rises = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            // Diagonal neighbours are twice as far away, for wider slopes.
            let away = vec2<i32>(x, y) * i32(look.reach) * (abs(x) + abs(y));
            let there = nearness(pixel + away);
            if there > here {
                let rise = (there / here - 1.0) * look.focal / length(vec2<f32>(away));
                rises += clamp(rise, GENTLE, STEEPEST) - GENTLE;
            }
        }
    }
    return mix(DARKEST, 1.0, exp(-0.15 * rises));
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
    if look.focal > 0.0 {
        color = vec4<f32>(color.rgb * eye_dome(vec2<i32>(position.xy)), color.a);
    }
    return color * look.opacity;
}
