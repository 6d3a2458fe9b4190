/** Turns Commander's messages about wrong options into the form of all our errors: the subject, what is wrong, where to look. */

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^]*)' is invalid\. ([^]*)$/, '$1 $2: $3'],
  [/^option '(?:-\w, )?(--[\w-]+ [^']*)' argument missing$/, '$1: the value is missing'],
  [/^missing required argument '([^']*)'$/, '<$1> is missing'],
  [/^required option '(?:-\w, )?(--[\w-]+[^']*)' not specified$/, '$1 is missing'],
  [/^unknown option '([^]*)'$/, 'there is no option $1'],
  [/^too many arguments for '([^']*)'\. Expected 0 arguments but got \d+\.$/, '$1 takes no arguments'],
  [
    /^too many arguments for '([^']*)'\. Expected (\d+) arguments? but got (\d+)\.$/,
    '$1 expects $2 arguments, got $3',
  ],
];

/** `text`: "error: ...", perhaps with a hint on a second line. `command`: "nccl-trace merge". */
export function usageSentence(text: string, command: string): string {
  const [first = '', ...hints] = text
    .trim()
    .replace(/^error: /, '')
    .split('\n');
  const form = FORMS.find(([pattern]) => pattern.test(first));
  const message = form ? first.replace(form[0], form[1]) : first;
  const sentence = [message.replace('Allowed choices are', 'must be one of'), ...hints]
    .join(' ')
    .replace('(Did', '(did')
    .replace('. (did', ' (did');
  return `nccl-trace: ${sentence.replace(/\.$/, '')}; see ${command} --help`;
}
