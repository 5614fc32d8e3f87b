import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const src = path.resolve(import.meta.dirname, '../../src')

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(path.sep).join('/'))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('generated/'))
const texts = new Map(files.map((file) => [file, readFileSync(path.join(src, file), 'utf8')]))

interface Truth {
  name: string
  /** The form that a second copy would have. */
  pattern: RegExp
  /** The file that states it. */
  home: string
  /** Files that mean something else by the same form. */
  others?: string[]
}

const truths: Truth[] = [
  {
    name: 'the form of a time in whole seconds: timestamp()',
    pattern: /toISOString\(\)\s*\.(?:slice\(0, (?:19|-5)\)|replace\(['"/]\\?\.)/,
    home: 'api/object.ts',
    // Times with a fraction of their own length, or of another time zone.
    others: ['api/cel/time.ts', 'api/protobuf/decode.ts', 'api/schema/time.ts', 'controllers/cronjob/apply.ts'],
  },
  {
    name: 'the form of a time with microseconds: microTime()',
    pattern: /toISOString\(\).*[}']000Z/,
    home: 'api/object.ts',
  },
  {
    name: 'a pod has finished: isFinalPhase(), isPodFinished()',
    pattern: /=== 'Succeeded'\s*\|\|.*=== 'Failed'|=== 'Failed'\s*\|\|.*=== 'Succeeded'|\['(?:Succeeded', 'Failed|Failed', 'Succeeded)'\]/,
    home: 'api/kinds/pods/pod-availability.ts',
  },
  {
    name: 'the deadline that means none: noDeadline',
    pattern: /\w*[dD]eadline\w* = (?:2_?147_?483_?647|2 \*\* 31 - 1)\b/,
    home: 'api/kinds/workloads/rollout-clock.ts',
    // The largest activeDeadlineSeconds of a pod.
    others: ['api/kinds/pods/pod-spec.ts', 'api/kinds/pods/pod-update.ts'],
  },
  {
    name: 'the first of some times: soonest()',
    pattern: /Math\.min\(\w+ \?\? Infinity,|(?:function|const) soonest\b/,
    home: 'base/soonest.ts',
  },
  {
    name: 'the first of some API times: earliest()',
    pattern: /(?:const|function) (?:earlier|earliest)\b.*string \| undefined/,
    home: 'api/object.ts',
  },
  {
    name: 'a JSON object, and no list: isFields()',
    pattern: /!== null\s*&&\s*!Array\.isArray|!Array\.isArray\(\w+\)\s*&&\s*\w+ !== null/,
    home: 'api/object.ts',
  },
  {
    name: 'an error for each problem of a value: invalidEach()',
    pattern: /\b(?:found|problems)\.map\(\((\w+)\) => invalid\(\w+, \w+, \1\)\)/,
    home: 'api/validation/field-error.ts',
  },
]

describe('a shared truth is stated in one file', () => {
  it.each(truths)('$name', ({ pattern, home, others = [] }) => {
    const found = [...texts].flatMap(([file, text]) => (pattern.test(text) ? [file] : []))
    expect(found.filter((file) => !others.includes(file))).toEqual([home])
    expect(others.filter((file) => !found.includes(file))).toEqual([])
  })
})
