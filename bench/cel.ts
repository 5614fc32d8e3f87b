// The cost of expressions of Kubernetes: compiling it, running it, and the longest that one may hold the event loop.
// Prints one JSON line per figure. Judged rules of public projects run, too, where they lie beside the checkout.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type JsonSchema,
  RuleValidator,
  checkSchemaRules,
  compile,
  kubernetesEnvironment,
  perCallLimit,
  schemaType,
  toValue,
} from '../src/api/cel/index.ts'
import { readJson } from '../src/api/json/index.ts'
import { Path } from '../src/api/validation/path.ts'

function report(figure: string, amount: number, unit: string, detail?: string): void {
  console.log(
    JSON.stringify({ bench: 'cel', figure, value: Number(amount.toPrecision(4)), unit, ...(detail && { detail }) }),
  )
}

function timeMs(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

const text: JsonSchema = { type: 'string', maxLength: 253 }
const route: JsonSchema = {
  type: 'object',
  properties: {
    type: text,
    minReplicas: { type: 'integer' },
    maxReplicas: { type: 'integer' },
    hostname: text,
    refs: {
      type: 'array',
      maxItems: 16,
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: text, group: text, kind: text, port: { type: 'integer' } },
      },
    },
    labels: { type: 'object', maxProperties: 64, additionalProperties: text },
  },
}
const value = {
  type: 'Hostname',
  minReplicas: 1,
  maxReplicas: 5,
  hostname: 'shop.example.com',
  refs: Array.from({ length: 8 }, (_, i) => ({ name: `backend-${i}`, group: '', kind: 'Service', port: 8000 + i })),
  labels: { app: 'shop', tier: 'web' },
}
const rules = [
  'self.minReplicas <= self.maxReplicas',
  "self.type == 'Hostname' ? has(self.hostname) : !has(self.hostname)",
  "!has(self.hostname) || self.hostname.matches('^[a-z0-9.-]+$')",
  "self.refs.all(r, r.kind == 'Service' ? has(r.port) : true)",
  'self.refs.all(a, self.refs.exists_one(b, a.name == b.name))',
  "self.labels.all(k, k.startsWith('app') || size(self.labels[k]) < 64)",
  "self.refs.map(r, r.name).exists(n, n.endsWith('-7'))",
]

const count = 10_000
const root = path.resolve(import.meta.dirname, '../..')
const type = schemaType(route)!
const environment = kubernetesEnvironment.extend({ self: type })

function typicalRules(): void {
  let total = 0
  for (const rule of rules) {
    const program = compile(rule, environment).program!
    const run = () => {
      for (let i = 0; i < count; i++)
        if (program.evaluate({ self: toValue(type, value) }).value !== true) throw new Error(rule)
    }
    run()
    const ms = timeMs(run)
    total += ms
    report('10,000 evaluations', ms, 'ms', rule)
  }
  report('10,000 evaluations, mean of the rules above', total / rules.length, 'ms')
}

function compiling(): void {
  const schema: JsonSchema = {
    type: 'object',
    properties: { spec: { ...route, 'x-kubernetes-validations': rules.map((rule) => ({ rule })) } },
  }
  const run = () => checkSchemaRules(schema, Path.of('openAPIV3Schema'))
  for (let i = 0; i < 50; i++) run()
  report(
    'checking, estimating and compiling a rule',
    (timeMs(() => Array.from({ length: 100 }, run)) / 100 / rules.length) * 1000,
    'µs',
  )
}

interface JudgedRule {
  rule: string
  schema: JsonSchema
  cases: { self: unknown }[]
}

function judgedRules(): void {
  const file = path.join(process.env['CEL_CASES'] ?? path.resolve(root, '../shared/cel'), 'oracle.json')
  if (!existsSync(file)) return
  const judged = readJson(readFileSync(file, 'utf8')) as JudgedRule[]
  const ready = judged.map(({ rule, schema, cases }) => ({
    validator: new RuleValidator({ ...schema, 'x-kubernetes-validations': [{ rule }] }, false),
    cases,
  }))
  const perRound = judged.reduce((sum, { cases }) => sum + cases.length, 0)
  const run = () => {
    for (const { validator, cases } of ready) for (const { self } of cases) validator.validate(self)
  }
  for (let i = 0; i < 5; i++) run()
  report(
    '10,000 evaluations of judged rules, with the walk of the object',
    (timeMs(() => Array.from({ length: 10 }, run)) / 10 / perRound) * count,
    'ms',
  )
}

const long = 'abcdefgh '.repeat(4_000)
const many = Array.from({ length: 10_000 }, (_, i) => i)
const words = Array.from({ length: 10_000 }, (_, i) => `word-${i}`)
const objects = Array.from({ length: 3_000 }, (_, i) => ({
  name: `n${i}`,
  nested: { list: [i, i + 1], text: `t${i}` },
}))
const data: JsonSchema = {
  type: 'object',
  properties: {
    long: { type: 'string' },
    many: { type: 'array', items: { type: 'integer' } },
    words: { type: 'array', items: { type: 'string' } },
    missing: { type: 'integer' },
    objects: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: text,
          nested: { type: 'object', properties: { list: { type: 'array', items: { type: 'integer' } }, text } },
        },
      },
    },
  },
}

/** Expressions that take the most time for their cost. All would run for seconds without a budget. */
const worst = [
  'self.many.all(a, self.many.all(b, true))',
  'self.many.all(a, self.many.all(b, a + b >= 0))',
  'self.many.all(a, self.many.all(b, a * 3037000500 + b > -1))',
  'self.many.all(a, self.many.all(b, double(a) * 1.5 + double(b) >= 0.0))',
  'self.many.all(a, !self.many.exists(b, self.missing == b) || true)',
  'self.many.map(a, self.many.map(b, a)).size() > 0',
  'self.many.all(a, (self.many + self.many).size() > 0)',
  'self.many.all(a, {a: a, a + 1: a}.size() == 2)',
  'self.many.transformMap(i, v, v).size() > 0 && self.many.all(a, self.many.transformMap(i, v, v).size() > 0)',
  'self.many.all(a, self.many == self.many.map(x, x))',
  'self.objects.all(a, self.objects == self.objects.map(x, x))',
  'self.objects.all(a, self.objects.exists(b, a == b && a.name != b.name) == false)',
  'self.words.all(a, self.words.all(b, a != b || true))',
  'self.words.all(a, self.words.exists(b, a + b == b + a))',
  'self.words.all(a, a in self.words)',
  "self.many.all(a, self.long.contains('hx'))",
  'self.many.all(a, self.long.size() > 3)',
  "self.many.all(a, self.long.replace('a', 'bb').size() > 3)",
  "self.many.all(a, self.long.split(' ').size() > 3)",
  'self.many.all(a, self.long.lowerAscii() == self.long.upperAscii() || true)',
  "self.many.all(a, !self.long.matches('(a|b|c|d)*x[0-9]+y'))",
  "self.words.all(a, self.words.all(b, b.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')))",
  "self.many.all(a, !self.long.matches('(a|b|c|d|e|f|g|h| )*x'))",
  "self.many.all(a, !self.long.matches('h.{20}x'))",
  "self.many.all(a, !self.long.matches('[a-h ]{900}$'))",
  'self.words.all(a, self.words.all(b, !b.matches(a + b) || true))',
  "self.many.all(a, !self.long.matches('(.*)(a.*)(b.*)(c.*)x'))",
  "self.words.all(a, self.words.all(b, b.matches('(w|o)+(r|d|-)*[0-9]{1,5}.{3,6}x') || true))",
  "self.words.all(a, self.words.all(b, b.find('[0-9]+') != 'x'))",
  "self.many.all(a, self.long.findAll('[a-h]').size() > 3)",
  'self.many.all(a, self.words.join(",").size() > 3)',
  'self.many.all(a, self.many.sum() > 3)',
  'self.many.all(a, self.many.max() > 3)',
  'self.many.all(a, self.words.isSorted() || true)',
  'self.many.all(a, self.words.indexOf("nope") == -1)',
  'self.many.all(a, self.many.sort()[0] == 0)',
  'self.many.all(a, self.words.distinct().size() > 3)',
  'self.many.all(a, sets.contains(self.words, self.words))',
  'self.many.all(a, lists.range(1000).size() > 3)',
  "self.many.all(a, self.many.all(b, quantity('1.5Gi').add(quantity('100m')).isGreaterThan(quantity('3'))))",
  'self.words.all(a, self.words.all(b, isQuantity(b) || true))',
  "self.many.all(a, self.many.all(b, isURL('https://user@example.com:80/a/b?c=d')))",
  "self.many.all(a, self.many.all(b, url('https://example.com/?a=b&c=d').getQuery().size() == 2))",
  "self.many.all(a, self.many.all(b, cidr('10.0.0.0/8').containsIP('10.1.2.3')))",
  "self.many.all(a, self.many.all(b, isIP('2001:db8::1:2:3')))",
  "self.many.all(a, self.many.all(b, semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))))",
  'self.words.all(a, self.words.all(b, !format.dns1123Subdomain().validate(b).hasValue()))',
  "self.many.all(a, self.many.all(b, timestamp('2026-01-01T00:00:00Z').getHours('Europe/Berlin') == 1))",
  "self.many.all(a, self.many.all(b, timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026))",
  "self.many.all(a, self.many.all(b, duration('1h30m') > duration('1s')))",
  "self.many.all(a, self.many.all(b, string(timestamp('2026-01-01T00:00:00Z')) != ''))",
  "self.many.all(a, self.many.all(b, '%s %d %f'.format(['x', a, 1.5]) != ''))",
  'self.many.all(a, self.many.all(b, string(a).size() + int(string(b)) >= 0))',
  "self.many.all(a, self.many.all(b, string(1.5) + string(b'abc') != ''))",
  'self.many.all(a, self.many.all(b, optional.of(a).optMap(x, x + 1).orValue(0) > 0))',
  'self.many.all(a, self.many.all(b, [a, b].size() == 2))',
  'self.many.all(a, self.many.exists(b, b / 0 == 1) || true)',
  "self.many.all(a, strings.quote(self.long) != '')",
  'self.many.all(a, bytes(self.long).size() > 3)',
]

function worstCases(): void {
  const dataType = schemaType(data)!
  let longest = { ms: 0, rule: '' }
  for (const rule of worst) {
    const { program, error } = compile(rule, kubernetesEnvironment.extend({ self: dataType }))
    if (!program) throw new Error(error.message)
    const self = toValue(dataType, { long, many, words, objects })
    program.evaluate({ self })
    const ms = Math.min(...Array.from({ length: 5 }, () => timeMs(() => void program.evaluate({ self }))))
    const { cost } = program.evaluate({ self })
    if (ms > longest.ms) longest = { ms, rule }
    if (process.argv.includes('--all'))
      report(
        'until the budget is spent',
        ms,
        'ms',
        `${((ms / cost) * 1e6).toFixed(1)} ns a unit, cost ${cost}: ${rule}`,
      )
  }
  report(`longest evaluation with a budget of ${perCallLimit}`, longest.ms, 'ms', longest.rule)
}

typicalRules()
judgedRules()
compiling()
worstCases()
