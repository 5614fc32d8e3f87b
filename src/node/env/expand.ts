/**
 * Puts variables in: `$(NAME)` becomes its value where there is one and stays as it is where there is none; `$$` is a
 * dollar.
 */
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
