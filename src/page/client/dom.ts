/** Elements, made of data: text is only ever text, so a name from a file cannot become markup. */

type Child = Node | string | null;
type Props = Readonly<Record<string, string | number | boolean | ((event: Event) => void) | undefined>>;

/** `class` and `on…` as one expects; everything else is an attribute. */
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

/** What the file may say of itself is shown as the command shows it: nothing that turns the direction of writing or has no width. */
export const shown = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\p{Variation_Selector}]/gu, '?');

/** A colour of the stylesheet. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
