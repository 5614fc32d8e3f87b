const name = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** Whether a field may be called so; names are in lower case. */
export const isFieldName = (text: string): boolean => name.test(text)
