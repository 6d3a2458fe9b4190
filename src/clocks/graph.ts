/** Directed graphs over clock domains: which are connected both ways, and shortest paths. */

export interface Arc {
  readonly from: number;
  readonly to: number;
}

/** Out-arcs in one array each: start[node] to start[node + 1] are positions in `arcs`. */
export interface Adjacency {
  readonly start: Int32Array;
  readonly arcs: Int32Array;
}

export function adjacency(nodes: number, arcs: readonly Arc[], end: 'from' | 'to'): Adjacency {
  const start = new Int32Array(nodes + 1);
  for (const arc of arcs) start[arc[end] + 1]!++;
  for (let node = 0; node < nodes; node++) start[node + 1]! += start[node]!;
  const fill = start.slice();
  const list = new Int32Array(arcs.length);
  arcs.forEach((arc, i) => (list[fill[arc[end]]!++] = i));
  return { start, arcs: list };
}

/** Strongly connected components, each with its nodes in rising order, by their smallest node. */
export function connectedBothWays(nodes: number, arcs: readonly Arc[]): number[][] {
  const out = adjacency(nodes, arcs, 'from');
  const order = new Int32Array(nodes).fill(-1);
  const low = new Int32Array(nodes);
  const onStack = new Uint8Array(nodes);
  const stack: number[] = [];
  const components: number[][] = [];
  let visited = 0;
  for (let root = 0; root < nodes; root++) {
    if (order[root] !== -1) continue;
    // Tarjan's algorithm without recursion: path[i] and next[i] are a call's node and the arc it is at.
    const path = [root];
    const next = [out.start[root]!];
    order[root] = low[root] = visited++;
    stack.push(root);
    onStack[root] = 1;
    while (path.length > 0) {
      const node = path[path.length - 1]!;
      const at = next[next.length - 1]!;
      if (at < out.start[node + 1]!) {
        next[next.length - 1]!++;
        const target = arcs[out.arcs[at]!]!.to;
        if (order[target] === -1) {
          order[target] = low[target] = visited++;
          stack.push(target);
          onStack[target] = 1;
          path.push(target);
          next.push(out.start[target]!);
        } else if (onStack[target]) low[node] = Math.min(low[node]!, order[target]!);
        continue;
      }
      path.pop();
      next.pop();
      const caller = path.at(-1);
      if (caller !== undefined) low[caller] = Math.min(low[caller]!, low[node]!);
      if (low[node] === order[node]) components.push(popComponent(stack, onStack, node));
    }
  }
  return components.sort((a, b) => a[0]! - b[0]!);
}

function popComponent(stack: number[], onStack: Uint8Array, last: number): number[] {
  const component: number[] = [];
  let node: number;
  do {
    node = stack.pop()!;
    onStack[node] = 0;
    component.push(node);
  } while (node !== last);
  return component.sort((a, b) => a - b);
}

/**
 * Length of the shortest path from `source` to every node (end 'from'), or from every node to `source` (end 'to').
 * Lengths of arcs must not be negative; Infinity: no path.
 */
export function shortestPaths(
  nodes: number,
  arcs: readonly Arc[],
  { start, arcs: list }: Adjacency,
  lengths: Float64Array,
  source: number,
  end: 'from' | 'to',
): Float64Array {
  const other = end === 'from' ? 'to' : 'from';
  const distance = new Float64Array(nodes).fill(Infinity);
  distance[source] = 0;
  const heap = new Heap();
  heap.push(0, source);
  while (heap.size > 0) {
    const far = heap.least;
    const node = heap.pop();
    if (far > distance[node]!) continue;
    for (let at = start[node]!; at < start[node + 1]!; at++) {
      const arc = list[at]!;
      const target = arcs[arc]![other];
      const through = far + lengths[arc]!;
      if (through >= distance[target]!) continue;
      distance[target] = through;
      heap.push(through, target);
    }
  }
  return distance;
}

/** A binary heap of (key, node), least key first. */
class Heap {
  private readonly keys: number[] = [];
  private readonly nodes: number[] = [];

  get size(): number {
    return this.keys.length;
  }

  get least(): number {
    return this.keys[0]!;
  }

  push(key: number, node: number): void {
    let at = this.keys.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.keys[above]! <= key) break;
      this.put(at, this.keys[above]!, this.nodes[above]!);
      at = above;
    }
    this.put(at, key, node);
  }

  pop(): number {
    const top = this.nodes[0]!;
    const key = this.keys.pop()!;
    const node = this.nodes.pop()!;
    const size = this.keys.length;
    if (size === 0) return top;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= size) break;
      if (below + 1 < size && this.keys[below + 1]! < this.keys[below]!) below++;
      if (this.keys[below]! >= key) break;
      this.put(at, this.keys[below]!, this.nodes[below]!);
      at = below;
    }
    this.put(at, key, node);
    return top;
  }

  private put(at: number, key: number, node: number): void {
    this.keys[at] = key;
    this.nodes[at] = node;
  }
}
