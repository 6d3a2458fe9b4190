/** Makes elements from data. Text stays text, so a name from a file cannot become markup. */

type Child = Node | string | null;
type Props = Readonly<Record<string, string | number | boolean | ((event: Event) => void) | undefined>>;

/** `class` and `on…` have their usual meaning. Everything else is an attribute. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The same for pictures. */
export function svg(
  tag: 'svg' | 'rect' | 'line' | 'text',
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Child[]
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Shows text from a file as the command does: without characters that change the writing direction or have no width. */
export const shown = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\p{Variation_Selector}]/gu, '?');

/** A colour of the stylesheet. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
