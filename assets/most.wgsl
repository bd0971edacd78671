// The largest number of points on one pixel.

@group(0) @binding(0) var<storage, read> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> most: atomic<u32>;

var<workgroup> of_group: atomic<u32>;

@compute @workgroup_size(128)
fn largest(@builtin(global_invocation_id) thread: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var found = 0u;
    for (var at = thread.x; at < arrayLength(&counts); at += groups.x * 128u) {
        found = max(found, counts[at]);
    }
    atomicMax(&of_group, found);
    workgroupBarrier();
    if lane == 0u {
        atomicMax(&most, atomicLoad(&of_group));
    }
}
