/** What fits a name in which `*` stands for anything. */
export const namePattern = (pattern: string): RegExp =>
  new RegExp(`^${pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)).join('.*')}$`)
