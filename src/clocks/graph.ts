/** Directed graphs over clock domains: which are connected both ways, and shortest paths. */

export interface Arc {
  readonly from: number;
  readonly to: number;
}

/** The arcs of each node: start[node] to start[node + 1] are positions in `arcs` and `others`. */
export interface Adjacency {
  readonly start: Int32Array;
  readonly arcs: Int32Array;
  /** The arcs' other ends. */
  readonly others: Int32Array;
}

/** By the nodes at one end of the arcs. */
export function adjacency(nodes: number, arcs: readonly Arc[], end: 'from' | 'to'): Adjacency {
  const start = new Int32Array(nodes + 1);
  for (const arc of arcs) start[arc[end] + 1]!++;
  for (let node = 0; node < nodes; node++) start[node + 1]! += start[node]!;
  const fill = start.slice();
  const list = new Int32Array(arcs.length);
  const others = new Int32Array(arcs.length);
  arcs.forEach((arc, i) => {
    const at = fill[arc[end]]!++;
    list[at] = i;
    others[at] = end === 'from' ? arc.to : arc.from;
  });
  return { start, arcs: list, others };
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

/** Per node: the first node of its component, if possible one for which `isLast` is false. */
export function groupReferences(
  nodes: number,
  arcs: readonly Arc[],
  isLast: (node: number) => boolean = () => false,
): number[] {
  const references = new Array<number>(nodes).fill(-1);
  for (const group of connectedBothWays(nodes, arcs)) {
    const first = group.find((node) => !isLast(node)) ?? group[0]!;
    for (const node of group) references[node] = first;
  }
  return references;
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
 * Length of the shortest path from `source` to every node (arcs by their 'from'), or from every node to `source` (by their 'to'). Lengths
 * must not be negative. Infinity: no path. `stretch`: after an arc, a path is longer by this factor, at least 1.
 */
export function shortestPaths(
  { start, arcs, others }: Adjacency,
  lengths: Float64Array,
  source: number,
  stretch?: Float64Array,
): Float64Array {
  const nodes = start.length - 1;
  const distance = new Float64Array(nodes).fill(Infinity);
  distance[source] = 0;
  const heap = new NodeHeap(distance);
  heap.moved(source);
  for (let node = heap.pop(); node >= 0; node = heap.pop()) {
    const far = distance[node]!;
    for (let at = start[node]!; at < start[node + 1]!; at++) {
      const arc = arcs[at]!;
      const target = others[at]!;
      const through = (far + lengths[arc]!) * (stretch === undefined ? 1 : stretch[arc]!);
      if (through >= distance[target]!) continue;
      distance[target] = through;
      heap.moved(target);
    }
  }
  return distance;
}

/** Nodes by their keys, least first. Each node is in the heap once, and moves up when its key gets less. */
class NodeHeap {
  private readonly nodes: Int32Array;
  /** By node: its place in the heap; -1: not in it. */
  private readonly places: Int32Array;
  private size = 0;

  constructor(private readonly keys: Float64Array) {
    this.nodes = new Int32Array(keys.length);
    this.places = new Int32Array(keys.length).fill(-1);
  }

  /** Call it when the node's key is new, or less than before. */
  moved(node: number): void {
    const key = this.keys[node]!;
    let at = this.places[node]!;
    if (at < 0) at = this.size++;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = this.nodes[above]!;
      if (this.keys[other]! <= key) break;
      this.put(at, other);
      at = above;
    }
    this.put(at, node);
  }

  /** -1: it is empty. */
  pop(): number {
    if (this.size === 0) return -1;
    const top = this.nodes[0]!;
    this.places[top] = -1;
    const node = this.nodes[--this.size]!;
    if (this.size === 0) return top;
    const key = this.keys[node]!;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= this.size) break;
      if (below + 1 < this.size && this.keyAt(below + 1) < this.keyAt(below)) below++;
      if (this.keyAt(below) >= key) break;
      this.put(at, this.nodes[below]!);
      at = below;
    }
    this.put(at, node);
    return top;
  }

  private keyAt(place: number): number {
    return this.keys[this.nodes[place]!]!;
  }

  private put(at: number, node: number): void {
    this.nodes[at] = node;
    this.places[node] = at;
  }
}
