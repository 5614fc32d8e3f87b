/** Replaces `$(NAME)` with the value of a variable. An unknown variable is kept as it is, and `$$` is a dollar sign. */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, what: string, name: string | undefined) =>
    what === '$' ? '$' : (variables.get(name!) ?? whole),
  )
}

/** The names of the variables that a text refers to. */
export const variableNames = (text: string): string[] =>
  [...text.matchAll(/\$(\$|\(([^)]*)\))/g)].flatMap(([, what, name]) =>
    what === '$' || name === undefined ? [] : [name],
  )
