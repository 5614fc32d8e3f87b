import { type Library, type Meter, memberOverload } from '../declarations.ts'
import { compilePattern } from '../pattern.ts'
import { intType, listType, stringType } from '../types.ts'
import { CelError } from '../values.ts'
import { matchCost } from './standard.ts'

function matcher(text: string, pattern: string) {
  const compiled = compilePattern(pattern)
  if (!compiled) throw new CelError(`Illegal regex: error parsing regexp: ${pattern}`)
  return compiled.matcher(text)
}

function find(_: Meter, text: string, pattern: string): string {
  const found = matcher(text, pattern)
  return found.find() ? (found.group() ?? '') : ''
}

function findAll(_: Meter, text: string, pattern: string, limit = -1): string[] {
  const found = matcher(text, pattern)
  const all: string[] = []
  const most = limit < 0 ? text.length + 1 : limit
  for (let i = 0; i < most && found.find(); i++) all.push(found.group() ?? '')
  return all
}

/** Kubernetes' functions of regular expressions, in RE2's syntax. */
export const regex: Library = {
  name: 'regex',
  functions: {
    find: [memberOverload('string_find_string', [stringType, stringType], stringType, find, matchCost)],
    findAll: [
      memberOverload('string_find_all_string', [stringType, stringType], listType(stringType), findAll, matchCost),
      memberOverload('string_find_all_string_int', [stringType, stringType, intType], listType(stringType), findAll, matchCost),
    ],
  },
}
