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

/** A canvas drawn for the screen it is on, again where its width or the colours change. */
export function canvas(
  label: string,
  height: number,
  draw: (context: CanvasRenderingContext2D, width: number) => void,
): HTMLCanvasElement {
  const element = h('canvas', { role: 'img', 'aria-label': label, class: 'chart' });
  element.style.height = `${height}px`;
  const paint = (): void => {
    const width = element.clientWidth;
    const context = element.getContext('2d');
    if (width === 0 || !context) return;
    const scale = window.devicePixelRatio;
    element.width = Math.round(width * scale);
    element.height = Math.round(height * scale);
    context.scale(scale, scale);
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    draw(context, width);
  };
  new ResizeObserver(paint).observe(element);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  return element;
}

/** A colour of the stylesheet. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
