/**
 * A function that makes each result once: a text that is made for every event costs its hash each time, and makes garbage. For few keys; it
 * begins again where there are many.
 */

const MOST = 4096;

export function remembered<Key, Result>(make: (key: Key) => Result): (key: Key) => Result {
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
