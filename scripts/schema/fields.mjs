/** `Type.field` for every field of a table that has one line per type: { PodSpec: 'hostIPC hostPID' }. */
export const named = (table) =>
  new Set(Object.entries(table).flatMap(([type, fields]) => fields.split(' ').map((field) => `${type}.${field}`)))

/** Joins the parts of a text. */
export const said = (...pieces) => pieces.join(' ')
