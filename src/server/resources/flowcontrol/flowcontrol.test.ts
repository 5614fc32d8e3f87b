import { describe, expect, it } from 'vitest'
import { cloneObject } from '../../../api/json/index.ts'
import { decodeObject } from '../../../api/schema/index.ts'
import { DecodedTrial } from '../resource-trial.ts'
import { flowControlObjects } from './bootstrap-objects.ts'
import { flowschemas } from './flowschemas.ts'
import { prioritylevelconfigurations } from './prioritylevelconfigurations.ts'

const schemas = new DecodedTrial(flowschemas)
const levels = new DecodedTrial(prioritylevelconfigurations)
const trialOf = (kind: string | undefined) => (kind === 'FlowSchema' ? schemas : levels)

describe('the objects that every cluster has', () => {
  it.each(flowControlObjects.map((object) => [object.kind, object.metadata.name, object] as const))(
    '%s %s is taken, and has nothing to be filled in',
    (kind, _, object) => {
      const draft = object as any
      expect(trialOf(kind).refusals(draft)).toEqual([])
      expect(trialOf(kind).created(draft).spec).toEqual((decodeObject(kind!, draft).object as any).spec)
    },
  )

  it('are served in the order of their precedence', () => {
    const all = flowControlObjects.filter(({ kind }) => kind === 'FlowSchema')
    const names = [...all].sort(flowschemas.compareRows).map(({ metadata }) => metadata.name)
    expect(names).toEqual([
      'exempt', 'probes', 'system-leader-election', 'endpoint-controller', 'workload-leader-election',
      'system-node-high', 'system-nodes', 'kube-controller-manager', 'kube-scheduler', 'kube-system-service-accounts', 'service-accounts',
      'global-default', 'catch-all',
    ])
  })
})

const user = { kind: 'User', user: { name: 'ann' } }
const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['default'] }
const spec = {
  priorityLevelConfiguration: { name: 'workload-low' },
  rules: [{ subjects: [user], resourceRules: [rule] }],
}
const withRule = (change: object) => ({ rules: [{ subjects: [user], resourceRules: [{ ...rule, ...change }] }] })
const withSubject = (subject: object) => ({ rules: [{ subjects: [subject], resourceRules: [rule] }] })
const withPath = (verbs: string[], ...nonResourceURLs: string[]) => ({
  rules: [{ subjects: [user], nonResourceRules: [{ verbs, nonResourceURLs }] }],
})

/** A pattern that begins with ^ begins below the spec. */
const inSpec = ({ source }: RegExp) => expect.stringMatching(source.replace(/^\^/, String.raw`^spec\.`)) as string

describe('a flow schema', () => {
  it('gets a precedence', () => {
    expect(schemas.created({ spec }).spec.matchingPrecedence).toBe(1000)
  })

  it.each<[string, object, (string | RegExp)[]]>([
    ['the usual', {}, []],
    ['no rules', { rules: [] }, []],
    [
      'a negative precedence',
      { matchingPrecedence: -1 },
      ['matchingPrecedence: Invalid value: -1: must be a positive value'],
    ],
    ['a high precedence', { matchingPrecedence: 10001 }, [/must not be greater than 10000$/]],
    ['the first place', { matchingPrecedence: 1 }, [/only the schema named 'exempt' may have matchingPrecedence 1$/]],
    [
      'no level',
      { priorityLevelConfiguration: { name: '' } },
      [/^priorityLevelConfiguration\.name: Required value: must reference/],
    ],
    [
      'an unknown method',
      { distinguisherMethod: { type: 'ByTea' } },
      [/^distinguisherMethod\.type: Unsupported value: {"Type":"ByTea"}/],
    ],
    [
      'nobody',
      { rules: [{ resourceRules: [rule] }] },
      ['rules[0].subjects: Required value: subjects must contain at least one value'],
    ],
    [
      'nothing to ask for',
      { rules: [{ subjects: [user] }] },
      [/^rules\[0\]: Required value: at least one of resourceRules/],
    ],
    [
      'an unknown subject',
      withSubject({ kind: 'Cat' }),
      [/^rules\[0\]\.subjects\[0\]\.kind: Unsupported value: "Cat"/],
    ],
    [
      'a user without one',
      withSubject({ kind: 'User' }),
      [/user: Required value: user is required when subject kind is 'User'$/],
    ],
    ['a user without a name', withSubject({ kind: 'User', user: { name: '' } }), [/user\.name: Required value$/]],
    [
      'a user with a group',
      withSubject({ ...user, group: { name: 'g' } }),
      [/group: Forbidden: group is forbidden when subject kind is not 'Group'$/],
    ],
    [
      'an account without a namespace',
      withSubject({ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: '' } }),
      [/serviceAccount\.namespace: Required value: must specify namespace for service account$/],
    ],
    [
      'an unknown verb',
      withRule({ verbs: ['drink'] }),
      [/resourceRules\[0\]\.verbs: Unsupported value: \["drink"\]: supported values: "create"/],
    ],
    [
      'a verb beside all',
      withRule({ verbs: ['*', 'get'] }),
      [/verbs: Invalid value: \["\*","get"\]: if '\*' is present, must not specify other verbs$/],
    ],
    [
      'no groups',
      withRule({ apiGroups: [] }),
      [/apiGroups: Required value: resource rules must supply at least one api group$/],
    ],
    [
      'no resources',
      withRule({ resources: [] }),
      [/resources: Required value: resource rules must supply at least one resource$/],
    ],
    [
      'no namespaces',
      withRule({ namespaces: [] }),
      [/namespaces: Required value: resource rules that are not cluster scoped must/],
    ],
    ['no namespaces for what has none', withRule({ namespaces: [], clusterScope: true }), []],
    [
      'a bad namespace',
      withRule({ namespaces: ['A'] }),
      [/namespaces\[0\]: Invalid value: "A": each member of this list must be '\*' or a DNS-1123 label; /],
    ],
    ['paths', withPath(['get'], '/', '/healthz', '/logs/*'), []],
    [
      'a path without a slash',
      withPath(['get'], 'x'),
      [/nonResourceURLs\[0\]: Invalid value: "x": must start with slash$/],
    ],
    ['a path with two slashes', withPath(['get'], '/a//b'), [/must not contain double slash$/]],
    ['a wildcard in a path', withPath(['get'], '/a*/b'), [/wildcard can only do suffix matching$/]],
  ])('says of %s', (_, change, refusals) => {
    const wanted = refusals.map((r) => (typeof r === 'string' ? `spec.${r}` : inSpec(r)))
    expect(schemas.refusals({ spec: { ...spec, ...change } })).toEqual(wanted)
  })

  it('that is always there keeps its spec', () => {
    const exempt = cloneObject(flowControlObjects.find(
      ({ kind, metadata }) => kind === 'FlowSchema' && metadata.name === 'exempt',
    )!) as any
    exempt.spec.rules = []
    expect(schemas.refusals(exempt)).toEqual([expect.stringMatching(/spec of 'exempt' must equal the fixed value$/)])
  })

  it('keeps all but its status when that is written', () => {
    const old = schemas.created({ metadata: { labels: { a: 'b' } }, spec, status: {} })
    const next = { ...cloneObject(old), metadata: { ...old.metadata, labels: {} }, spec: {}, status: {} } as any
    flowschemas.status!.prepare(next, old, {} as never)
    expect(next).toEqual(old)
    expect(schemas.statusRefusals(old, { conditions: [{ type: '' }, { type: 'A' }, { type: 'A' }] })).toEqual([
      'status.conditions[0].type: Required value: must not be empty', 'status.conditions[2].type: Duplicate value: "A"',
    ])
  })

  it('is shown with its level', () => {
    expect(schemas.cells(schemas.created({ spec }))).toMatchObject({
      PriorityLevel: 'workload-low', MatchingPrecedence: 1000, DistinguisherMethod: '<none>', MissingPL: '?',
    })
  })
})

const limited = { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } }
const withQueuing = (queuing: object) => ({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing } } })
const withLimited = (change: object) => ({ type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...change } })

describe('a priority level', () => {
  it('is filled in', () => {
    expect(levels.created({ spec: limited }).spec.limited).toEqual({
      nominalConcurrencyShares: 30,
      lendablePercent: 0,
      limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
    })
  })

  it.each<[string, object, string[]]>([
    ['queues', limited, []],
    ['no shares', withLimited({ nominalConcurrencyShares: 0 }), []],
    ['an unknown type', { type: 'X' }, ['type: Unsupported value: "X": supported values: "Exempt", "Limited"']],
    ['no limits', { type: 'Limited' }, ['limited: Required value: must not be empty when type is Limited']],
    [
      'another that is exempt',
      { type: 'Exempt' },
      ["type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'"],
    ],
    ['limits and an exemption', { ...limited, exempt: {} }, ['exempt: Forbidden: must be nil if the type is Limited']],
    [
      'negative shares',
      withLimited({ nominalConcurrencyShares: -1 }),
      ['limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer'],
    ],
    [
      'lending it all twice',
      withLimited({ lendablePercent: 200 }),
      ['limited.lendablePercent: Invalid value: 200: must be between 0 and 100, inclusive'],
    ],
    [
      'negative borrowing',
      withLimited({ borrowingLimitPercent: -1 }),
      ['limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer'],
    ],
    [
      'no queues',
      { type: 'Limited', limited: { limitResponse: { type: 'Queue' } } },
      ['limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited'],
    ],
    [
      'queues that are not used',
      withLimited({ limitResponse: { type: 'Reject', queuing: {} } }),
      ['limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited'],
    ],
    ['negative queues', withQueuing({ queues: -1 }), [
      'limited.limitResponse.queuing.queues: Invalid value: -1: must be positive',
      'limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (-1)',
    ]],
    ['a hand that takes too many bits', withQueuing({ queues: 512, handSize: 8 }), [
      'limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60',
    ]],
  ])('says of %s', (_, draft, refusals) => {
    expect(levels.refusals({ spec: draft })).toEqual(refusals.map((r) => `spec.${r}`))
  })

  it('that is always there keeps its spec, but for the numbers of the one that is exempt', () => {
    const named = (name: string) =>
      cloneObject(flowControlObjects.find((o) => o.kind !== 'FlowSchema' && o.metadata.name === name)!) as any
    const catchAll = named('catch-all')
    catchAll.spec.limited.nominalConcurrencyShares = 6
    expect(levels.refusals(catchAll)).toEqual([
      expect.stringMatching(/spec of 'catch-all' must equal the fixed value$/),
    ])
    const exempt = named('exempt')
    exempt.spec.exempt.nominalConcurrencyShares = 6
    expect(levels.refusals(exempt)).toEqual([])
  })

  it('is shown with its queues', () => {
    const cells = { Type: 'Limited', NominalConcurrencyShares: 30, Queues: 64, HandSize: 8, QueueLengthLimit: 50 }
    expect(levels.cells(levels.created({ spec: limited }))).toMatchObject(cells)
    expect(levels.cells(
      levels.created({ spec: { type: 'Exempt', exempt: {} } }),
    )).toMatchObject({ NominalConcurrencyShares: '<none>', Queues: '<none>' })
  })
})
