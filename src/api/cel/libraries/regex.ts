import { type Library, type Meter, charge, memberOverload } from '../declarations.ts'
import { patternFor } from '../pattern.ts'
import { intType, listType, stringType } from '../types.ts'
import { CelError } from '../values.ts'

function matcher(meter: Meter, text: string, pattern: string) {
  const compiled = patternFor(meter, pattern, text)
  if (!compiled) throw new CelError(`Illegal regex: error parsing regexp: ${pattern}`)
  return compiled.matcher(text)
}

function find(meter: Meter, text: string, pattern: string): string {
  const found = matcher(meter, text, pattern)
  return found.find() ? (found.group() ?? '') : ''
}

/** Each match takes about 1 µs. */
const foundCost = 300
const findCost = () => foundCost

function findAll(meter: Meter, text: string, pattern: string, limit = -1): string[] {
  const found = matcher(meter, text, pattern)
  const all: string[] = []
  const most = limit < 0 ? text.length + 1 : limit
  for (let i = 0; i < most && found.find(); i++) {
    charge(meter, foundCost)
    all.push(found.group() ?? '')
  }
  return all
}

/** Kubernetes' functions of regular expressions, in RE2's syntax. */
export const regex: Library = {
  name: 'regex',
  functions: {
    find: [memberOverload('string_find_string', [stringType, stringType], stringType, find, findCost)],
    findAll: [
      memberOverload('string_find_all_string', [stringType, stringType], listType(stringType), findAll, findCost),
      memberOverload(
        'string_find_all_string_int',
        [stringType, stringType, intType],
        listType(stringType),
        findAll,
        findCost,
      ),
    ],
  },
}
