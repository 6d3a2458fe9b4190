/**
 * A function that keeps its results. Without it, every event would make its texts again, which takes time and makes garbage. It is meant
 * for few keys: when it holds too many, it forgets all of them.
 */

const MOST = 4096;

export function memoized<Key, Result>(make: (key: Key) => Result): (key: Key) => Result {
  const results = new Map<Key, Result>();
  return (key) => {
    let result = results.get(key);
    if (result === undefined) {
      if (results.size >= MOST) results.clear();
      results.set(key, (result = make(key)));
    }
    return result;
  };
}
