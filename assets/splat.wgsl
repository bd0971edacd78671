// Points into a picture by atomics. Two steps over the same points: the nearest point of each pixel, then which point that
// is, the last in drawing order where several are as near. Both steps are one entry point, so that the second computes
// the same bits as the first. Plane has no depth: one step counts points and keeps the last.

struct View {
    matrix: mat4x4<f32>,
    center: vec4<f32>,
    // Width and height in pixels.
    size: vec2<u32>,
    diameter: f32,
    // The id of the buffer's first point.
    first: u32,
    // The part of the buffer that is drawn.
    begin: u32,
    end: u32,
    // Layers of a higher rank cover those of a lower one.
    rank: u32,
    // 0 nearest, 1 which, 2 count.
    step: u32,
}

// Storage, not uniform: Mesa's lavapipe compiles and caches a shader for each uniform value in a condition.
@group(0) @binding(0) var<storage, read> view: View;
@group(0) @binding(1) var<storage, read> places: array<f32>;
// The nearness of the nearest point, or how many points there are; 0 where there is none.
@group(0) @binding(2) var<storage, read_write> depths: array<atomic<u32>>;
// The id of the point that is seen, plus 1.
@group(0) @binding(3) var<storage, read_write> ids: array<atomic<u32>>;

@compute @workgroup_size(128)
fn splat(@builtin(global_invocation_id) thread: vec3<u32>) {
    let at = view.begin + thread.x;
    if at >= view.end {
        return;
    }
    let place = vec3<f32>(places[at * 3u], places[at * 3u + 1u], places[at * 3u + 2u]);
    let clip = view.matrix * vec4<f32>(place - view.center.xyz, 1.0);
    if !(clip.w > 0.0 && clip.z >= 0.0 && clip.z <= clip.w) {
        return;
    }
    let size = vec2<f32>(view.size);
    let middle = (clip.xy / clip.w * vec2<f32>(0.5, -0.5) + 0.5) * size;
    let radius = view.diameter * 0.5;
    // A pixel is covered when its middle is.
    let low = max(ceil(middle - radius - 0.5), vec2<f32>(0.0));
    let high = min(ceil(middle + radius - 0.5), size);
    if !(low.x < high.x && low.y < high.y) {
        return;
    }
    let from_pixel = vec2<u32>(low);
    let to_pixel = vec2<u32>(high);
    // A float's bits are ordered as the float is. The distance from the eye is as precise far away as it is near.
    let key = (0x3fffffffu - (bitcast<u32>(clip.w) >> 1u)) | (view.rank << 30u);
    let id = view.first + at + 1u;
    // Small points stay squares: a disc of two pixels is one.
    let round = view.diameter >= 3.0;
    for (var y = from_pixel.y; y < to_pixel.y; y++) {
        for (var x = from_pixel.x; x < to_pixel.x; x++) {
            let away = vec2<f32>(f32(x), f32(y)) + 0.5 - middle;
            if round && dot(away, away) > radius * radius {
                continue;
            }
            let pixel = y * view.size.x + x;
            if view.step == 0u {
                if atomicLoad(&depths[pixel]) < key {
                    atomicMax(&depths[pixel], key);
                }
            } else if view.step == 1u {
                if atomicLoad(&depths[pixel]) == key {
                    atomicMax(&ids[pixel], id);
                }
            } else {
                if view.rank == 0u {
                    atomicAdd(&depths[pixel], 1u);
                }
                atomicMax(&ids[pixel], id);
            }
        }
    }
}
