import { beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import type { ClusterRoleBinding, PersistentVolume, Pod, PolicyRule, RoleBinding } from '../../../api/generated/types.ts'
import { ServerTrial } from '../../server-trial.ts'
import type { ServerObjects, UserInfo } from '../../objects/objects.ts'
import { type Attempt, type Decision, type ResourceAttempt, forbiddenAttempt } from '../authorize.ts'
import { parseAuthorizationConfig, parseModes } from './config.ts'
import { NodeAuthorizer } from './node-authorizer.ts'
import { NodeGraph } from './node-graph.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'
import { RbacIndex } from './rbac-index.ts'
import { compactRules, ruleText, uncoveredRules } from './rule-coverage.ts'
import { compileConditions } from './match-conditions.ts'
import { WebhookAuthorizer, reviewOf } from './webhook.ts'

/** `get apps/deployments/scale blue web`, with `*` for nothing. */
function attempt(text: string, query = ''): ResourceAttempt {
  const [verb = '', resource = '', namespace = '*', name = '*'] = text.split(' ')
  const [group = '', plural = '', subresource = ''] = resource.split('/')
  const said = (word: string) => (word === '*' ? '' : word)
  return { verb, path: { group, version: 'v1', namespace: said(namespace), plural, subresource, name: said(name) }, ...(query ? { query: new URLSearchParams(query) } : {}) }
}

const user: UserInfo = { name: 'jane', groups: ['rowers', 'system:authenticated'] }
const told = (of: Attempt, decision: Decision = { allowed: false }) => forbiddenAttempt(user, of, decision).message

describe('forbiddenAttempt()', () => {
  it.each<[string, Attempt, string]>([
    ['a list', attempt('list /pods default'), 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"'],
    ['an object', attempt('get /pods default a'), 'pods "a" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "default"'],
    ['a subresource', attempt('patch apps/deployments/scale blue web'),
      'deployments.apps "web" is forbidden: User "jane" cannot patch resource "deployments/scale" in API group "apps" in the namespace "blue"'],
    ['the whole cluster', attempt('list /nodes'), 'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope'],
    ['a namespace, within itself', attempt('get /namespaces * blue'),
      'namespaces "blue" is forbidden: User "jane" cannot get resource "namespaces" in API group "" in the namespace "blue"'],
    ['a list of one name', attempt('list /secrets blue', 'fieldSelector=metadata.name%3Dkey'),
      'secrets "key" is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "blue"'],
    ['a path', { verb: 'get', url: '/metrics' }, 'forbidden: User "jane" cannot get path "/metrics"'],
    ['a path with markup', { verb: 'get', url: '/<b>&' }, 'forbidden: User "jane" cannot get path "/&lt;b&gt;&amp;"'],
  ])('tells of %s', (_, of, message) => expect(told(of)).toBe(message))

  it('ends with the reason', () => expect(told(attempt('list /nodes'), { allowed: false, reason: 'no' })).toMatch(/at the cluster scope: no$/))
})

const rule = (verbs: string, group: string, resources: string, names?: string): PolicyRule => ({
  verbs: verbs.split(' '), apiGroups: [group], resources: resources.split(' '), ...(names ? { resourceNames: names.split(' ') } : {}),
})

/** An index with one cluster role that jane has. */
function janes(...rules: PolicyRule[]): RbacIndex {
  const index = new RbacIndex()
  index.setRole('ClusterRole', '', 'r', rules)
  index.setBinding('ClusterRoleBinding', undefined, bindingOf('b', 'User', 'jane'))
  return index
}
const bindingOf = (name: string, kind: string, subject: string, role = 'r'): ClusterRoleBinding =>
  ({ metadata: { name }, roleRef: { apiGroup: '', kind: 'ClusterRole', name: role }, subjects: [{ kind, name: subject }] })

describe('RbacAuthorizer', () => {
  it.each<[string, PolicyRule, Attempt, boolean]>([
    ['a subresource by its name', rule('get', '', 'pods/log'), attempt('get /pods/log blue a'), true],
    ['no subresource by the resource', rule('get', '', 'pods'), attempt('get /pods/log blue a'), false],
    ['a subresource of anything', rule('get', '*', '*/scale'), attempt('get example.com/things/scale blue a'), true],
    ['no other subresource of anything', rule('get', '*', '*/scale'), attempt('get example.com/things/status blue a'), false],
    ['every subresource by *', rule('get', '', '*'), attempt('get /pods/log blue a'), true],
    ['an object by name', rule('get', '', 'secrets', 'a b'), attempt('get /secrets blue b'), true],
    ['no other object', rule('get', '', 'secrets', 'a b'), attempt('get /secrets blue c'), false],
    ['no list by names', rule('list', '', 'secrets', 'a b'), attempt('list /secrets blue'), false],
    ['a list of that name alone', rule('list', '', 'secrets', 'a b'), attempt('list /secrets blue', 'fieldSelector=metadata.name=a'), true],
    ['no create by names', rule('create', '', 'secrets', 'a'), attempt('create /secrets blue'), false],
    ['any verb by *', rule('*', 'apps', 'deployments'), attempt('escalate apps/deployments blue'), true],
    ['no other group', rule('*', 'apps', 'deployments'), attempt('get extensions/deployments blue'), false],
    ['a path', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, { verb: 'get', url: '/metrics' }, true],
    ['no path below', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, { verb: 'get', url: '/metrics/slis' }, false],
    ['paths below', { verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, { verb: 'get', url: '/healthz/store' }, true],
    ['not the path itself by those below', { verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, { verb: 'get', url: '/healthz' }, false],
    ['no path to another method', { verbs: ['get'], nonResourceURLs: ['*'] }, { verb: 'post', url: '/metrics' }, false],
  ])('allows %s', (_, given, of, isAllowed) => expect(new RbacAuthorizer(janes(given)).authorize(user, of).allowed).toBe(isAllowed))

  it('says by which binding, and which role is missing', () => {
    const index = janes(rule('get', '', 'pods'))
    const authorizer = new RbacAuthorizer(index)
    expect(authorizer.authorize(user, attempt('get /pods blue a')).reason).toBe('RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "jane"')
    index.setBinding('ClusterRoleBinding', undefined, bindingOf('c', 'Group', 'rowers', 'gone'))
    expect(authorizer.authorize(user, attempt('list /pods blue'))).toEqual({ allowed: false, reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found' })
  })

  it('follows the changes of roles and bindings', () => {
    const index = janes(rule('get', '', 'pods'))
    const authorizer = new RbacAuthorizer(index)
    const may = (of: string) => authorizer.authorize(user, attempt(of)).allowed
    expect([may('get /pods blue a'), may('list /pods blue')]).toEqual([true, false])
    index.setRole('ClusterRole', '', 'r', [rule('list', '', 'pods')])
    expect([may('get /pods blue a'), may('list /pods blue')]).toEqual([false, true])
    index.setBinding('ClusterRoleBinding', bindingOf('b', 'User', 'jane'), bindingOf('b', 'User', 'joe'))
    expect(may('list /pods blue')).toBe(false)
    index.setBinding('RoleBinding', undefined, { ...bindingOf('n', 'Group', 'rowers'), metadata: { name: 'n', namespace: 'blue' } } as RoleBinding)
    expect([may('list /pods blue'), may('list /pods red'), may('list /pods')]).toEqual([true, false, false])
    index.setRole('ClusterRole', '', 'r', undefined)
    expect(may('list /pods blue')).toBe(false)
  })

  it('takes a service account without a namespace for one of the binding\'s', () => {
    const index = janes(rule('get', '', 'pods'))
    index.setBinding('RoleBinding', undefined, { ...bindingOf('n', 'ServiceAccount', 'app'), metadata: { name: 'n', namespace: 'blue' } } as RoleBinding)
    expect(new RbacAuthorizer(index).authorize({ name: 'system:serviceaccount:blue:app', groups: [] }, attempt('get /pods blue a')).allowed).toBe(true)
  })

  it.each([
    ['of one user in one namespace, to a role each', (i: number) => ({ role: `r${i}`, namespace: 'blue', subject: 'jane' })],
    ['of many users', (i: number) => ({ role: 'r0', namespace: 'blue', subject: `user-${i}` })],
    ['of one user in many namespaces', (i: number) => ({ role: 'r0', namespace: `ns-${i}`, subject: 'jane' })],
  ])('asks 1,000 bindings %s within 20 µs', (_, make) => {
    const index = new RbacIndex()
    for (let i = 0; i < 1000; i++) {
      const { role, namespace, subject } = make(i)
      index.setRole('ClusterRole', '', role, [rule('get list', '', `thing-${i}`), rule('get', '', 'secrets', `key-${i}`)])
      index.setBinding('RoleBinding', undefined, { ...bindingOf(`b${i}`, 'User', subject, role), metadata: { name: `b${i}`, namespace } } as RoleBinding)
    }
    const authorizer = new RbacAuthorizer(index)
    const asked = [attempt('get /secrets blue key-999'), attempt('delete /pods blue a')]
    const rounds = 200
    /** The shortest of many short runs: other processes cannot be in all of them. */
    let best = Infinity
    for (let run = 0; run < 40; run++) {
      const started = process.hrtime.bigint()
      for (const of of asked) for (let i = 0; i < rounds; i++) authorizer.authorize(user, of)
      best = Math.min(best, Number(process.hrtime.bigint() - started) / 1000 / rounds / asked.length)
    }
    expect(best).toBeLessThan(20)
  })
})

describe('uncoveredRules()', () => {
  it.each<[string, PolicyRule[], PolicyRule, string[]]>([
    ['nothing of the same', [rule('get list', '', 'pods')], rule('get', '', 'pods'), []],
    ['nothing that several rules give together', [rule('get', '', 'pods'), rule('list', '', 'pods')], rule('get list', '', 'pods'), []],
    ['nothing of a name', [rule('get', '', 'pods')], rule('get', '', 'pods', 'a'), []],
    ['all names of one', [rule('get', '', 'pods', 'a')], rule('get', '', 'pods'), ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
    ['verbs, together', [], rule('list get', 'apps', 'deployments'), ['{APIGroups:["apps"], Resources:["deployments"], Verbs:["list" "get"]}']],
    ['nothing of a subresource of anything', [rule('get', '*', '*/scale')], rule('get', 'apps', 'deployments/scale'), []],
    ['* that is not held', [rule('get', '', 'pods')], rule('*', '', 'pods'), ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}']],
    ['paths', [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }], { verbs: ['get'], nonResourceURLs: ['/a/b', '/c'] }, ['{NonResourceURLs:["/c"], Verbs:["get"]}']],
  ])('finds %s', (_, owned, wanted, texts) => expect(compactRules(uncoveredRules(owned, [wanted])).map(ruleText)).toEqual(texts))
})

describe('NodeAuthorizer', () => {
  const pod = (spec: object, annotations = {}) => ({ metadata: { namespace: 'blue', name: 'p', annotations }, spec: { nodeName: 'n1', containers: [], ...spec } }) as unknown as Pod
  const graph = new NodeGraph()
  graph.setPod('blue', 'p', pod({
    serviceAccountName: 'app', imagePullSecrets: [{ name: 'pull' }],
    containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }], envFrom: [{ configMapRef: { name: 'all' } }] }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }, { name: 's', secret: { secretName: 'mounted' } }],
  }))
  graph.setPod('blue', 'other', { ...pod({}), spec: { nodeName: 'n2', containers: [] } } as unknown as Pod)
  graph.setVolume('pv', { metadata: { name: 'pv' }, spec: { claimRef: { namespace: 'blue', name: 'data' }, csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { namespace: 'csi', name: 'stage' } } } } as PersistentVolume)
  const authorizer = new NodeAuthorizer(graph)
  const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
  const decided = (decision: Decision | Promise<Decision>) => {
    if (decision instanceof Promise) throw new Error('the graph is not complete')
    return decision
  }

  it.each<[string, boolean, string?]>([
    ['get /secrets blue mounted', true], ['get /secrets blue env', true], ['get /secrets blue pull', true], ['get /secrets csi stage', true],
    ['get /secrets blue other', false], ['get /secrets red mounted', false], ['list /secrets blue', false], ['update /secrets blue mounted', false],
    ['list /secrets blue', true, 'fieldSelector=metadata.name=mounted'], ['watch /configmaps blue', true, 'fieldSelector=metadata.name=all'],
    ['get /configmaps blue all', true], ['get /persistentvolumeclaims blue data', true], ['get /persistentvolumes * pv', true], ['get /persistentvolumes * pv2', false],
    ['update /persistentvolumeclaims/status blue data', true], ['delete /persistentvolumeclaims blue data', false],
    ['create /serviceaccounts/token blue app', true], ['create /serviceaccounts/token blue default', false],
    ['get /pods blue p', true], ['get /pods blue other', false], ['list /pods', false], ['list /pods', true, 'fieldSelector=spec.nodeName=n1'],
    ['list /pods', false, 'fieldSelector=spec.nodeName=n2'], ['watch /nodes', true, 'fieldSelector=metadata.name=n1'], ['list /nodes', false], ['get /nodes * n2', false],
    ['update coordination.k8s.io/leases kube-node-lease n1', true], ['update coordination.k8s.io/leases kube-node-lease n2', false], ['update coordination.k8s.io/leases kube-system n1', false],
    ['create storage.k8s.io/csinodes * *', true], ['get storage.k8s.io/csinodes * n2', false], ['create /pods/eviction blue p', true], ['create apps/deployments blue', false],
  ])('%s: %s %s', (text, isAllowed, query) => expect(decided(authorizer.authorize(node, attempt(text, query))).allowed).toBe(isAllowed))

  it('has no opinion about others, and forgets pods that are gone', () => {
    expect(authorizer.authorize(user, attempt('get /secrets blue mounted'))).toEqual({ allowed: false })
    graph.setPod('blue', 'p', undefined)
    expect(authorizer.authorize(node, attempt('get /secrets blue mounted'))).toEqual({ allowed: false, reason: "no relationship found between node 'n1' and this object" })
    expect(decided(authorizer.authorize(node, attempt('get /secrets csi stage'))).allowed).toBe(false)
  })
})

describe('NodeGraph', () => {
  const pods = new Map<string, Pod>()
  const read: string[] = []
  let graph: NodeGraph

  const stored = (name: string, nodeName: string | undefined, account: string) =>
    pods.set(name, { metadata: { namespace: 'blue', name }, spec: { nodeName, serviceAccountName: account, containers: [] } } as unknown as Pod)
  beforeEach(() => {
    pods.clear()
    read.length = 0
    graph = new NodeGraph((_, name) => (read.push(name), pods.get(name)))
    stored('one', 'n1', 'a')
    stored('two', 'n1', 'b')
    stored('far', 'n2', 'c')
    stored('none', undefined, 'd')
    for (const [name, { spec }] of pods) graph.expectPod('blue', name, spec.nodeName ?? '')
  })
  const uses = (node: string, account: string) => graph.isUsedOn(node, 'serviceaccounts', 'blue', account)

  it('decodes the pods of a node when it asks, and those of no other', () => {
    expect(read).toEqual([])
    expect([uses('n1', 'a'), uses('n1', 'b'), uses('n1', 'c'), uses('n3', 'a')]).toEqual([true, true, false, false])
    expect(read).toEqual(['one', 'two'])
    expect([uses('n2', 'c'), uses('n2', 'd')]).toEqual([true, false])
    expect(read).toEqual(['one', 'two', 'far'])
  })

  it('tells the node of a pod by the pod itself, where another member had the name', () => {
    stored('odd', undefined, 'e')
    graph.expectPod('blue', 'odd', 'n1')
    expect([graph.nodeOfPod('blue', 'odd'), graph.nodeOfPod('blue', 'one'), graph.nodeOfPod('blue', 'none')]).toEqual([undefined, 'n1', undefined])
    expect([uses('n1', 'e'), uses('n1', 'a')]).toEqual([false, true])
  })

  it('decodes at once where the bytes do not tell the node', () => {
    stored('odd', 'n4', 'e')
    graph.expectPod('blue', 'odd', undefined)
    expect([read, graph.nodeOfPod('blue', 'odd'), uses('n4', 'e')]).toEqual([['odd'], 'n4', true])
  })

  it('has a node wait until all stored pods were visited, and leaves out what changes meanwhile', async () => {
    const turns = { isSpent: true, next: () => new Promise<void>((resolve) => goOn.push(resolve)) }
    const goOn: (() => void)[] = []
    const names = Array.from({ length: 100 }, (_, i) => `p${i}`)
    const gone = new Set<string>()
    let tell: (change: { namespace: string; name: string; object(): undefined }) => void = () => {}
    const objects = {
      *glimpse() {
        for (const name of names) if (!gone.has(name)) yield { namespace: 'blue', name, text: 'n1' }
      },
      follow: (_: string, plural: string, fn: typeof tell) => plural === 'pods' && (tell = fn),
      list: () => [],
      get: (_: string, __: string, ___: string, name: string) => ({ metadata: { name }, spec: { nodeName: 'n1', serviceAccountName: name, containers: [] } }),
    } as unknown as ServerObjects
    const authorizer = new NodeAuthorizer(NodeGraph.of(objects, turns))
    const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes'] }
    const asked = ['p0', 'p99', 'p50'].map((name) => authorizer.authorize(node, attempt(`get /pods blue ${name}`)))
    expect(asked.every((decision) => decision instanceof Promise)).toBe(true)
    for (const name of ['p0', 'p99']) {
      gone.add(name)
      tell({ namespace: 'blue', name, object: () => undefined })
    }
    while (goOn.length > 0) {
      goOn.pop()!()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await Promise.all(asked)).map(({ allowed }) => allowed)).toEqual([false, false, true])
    expect(authorizer.authorize(node, attempt('get /pods blue p50'))).toEqual({ allowed: true })
  })

  it('takes changes of pods that were never decoded', () => {
    graph.setPod('blue', 'one', undefined)
    graph.setPod('blue', 'two', { ...pods.get('two')!, spec: { nodeName: 'n1', serviceAccountName: 'x', containers: [] } } as unknown as Pod)
    expect([uses('n1', 'a'), uses('n1', 'b'), uses('n1', 'x'), graph.nodeOfPod('blue', 'one'), read]).toEqual([false, false, true, undefined, []])
  })
})

describe('WebhookAuthorizer', () => {
  function trial(answers: (object | Error)[], onFailure: 'NoOpinion' | 'Deny' = 'NoOpinion') {
    const clock = new VirtualClock()
    const asked: object[] = []
    const post = async (review: object) => {
      asked.push(review)
      const answer = answers.shift() ?? new Error('no more answers')
      if (answer instanceof Error) throw answer
      return { status: answer }
    }
    return { clock, asked, authorizer: new WebhookAuthorizer({ name: 'w', authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000, timeoutMs: 3000, onFailure, post }, clock) }
  }

  it('asks by a SubjectAccessReview', async () => {
    const { authorizer, asked } = trial([{ allowed: true }])
    await authorizer.authorize(user, attempt('list /pods blue', 'labelSelector=app%3Dweb'))
    expect(asked).toEqual([{
      apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {},
      spec: {
        user: 'jane', groups: ['rowers', 'system:authenticated'],
        resourceAttributes: { namespace: 'blue', verb: 'list', version: 'v1', resource: 'pods', labelSelector: { requirements: [{ key: 'app', operator: 'In', values: ['web'] }] } },
      },
    }])
  })

  it.each([
    ['a text for a boolean', { allowed: 'false' }, 'cannot unmarshal string into Go struct field SubjectAccessReviewStatus.status.allowed of type bool'],
    ['a text for a denial', { allowed: true, denied: 'true' }, 'cannot unmarshal string into Go struct field SubjectAccessReviewStatus.status.denied of type bool'],
    ['a number for a reason', { allowed: true, reason: 5 }, 'cannot unmarshal number into Go struct field SubjectAccessReviewStatus.status.reason of type string'],
  ])('fails with %s', async (_what, answer, why) => {
    const { authorizer } = trial([answer], 'Deny')
    expect(await authorizer.authorize(user, attempt('get /pods blue a'))).toEqual({ allowed: false, denied: true, error: `webhook "w": json: ${why}` })
  })

  it('remembers a yes for longer than a no', async () => {
    const { authorizer, asked, clock } = trial([{ allowed: true }, { allowed: false, denied: true, reason: 'never' }, { allowed: true }])
    const ask = async (text: string) => authorizer.authorize(user, attempt(text))
    expect(await ask('get /pods blue a')).toEqual({ allowed: true })
    expect(await ask('get /pods blue b')).toEqual({ allowed: false, denied: true, reason: 'never' })
    clock.advance(29_000)
    expect([(await ask('get /pods blue a')).allowed, (await ask('get /pods blue b')).denied, asked.length]).toEqual([true, true, 2])
    clock.advance(2000)
    expect([(await ask('get /pods blue a')).allowed, (await ask('get /pods blue b')).allowed, asked.length]).toEqual([true, true, 3])
  })

  it.each([['NoOpinion', undefined], ['Deny', true]] as const)('that fails means %s, and is not remembered', async (onFailure, denied) => {
    const { authorizer, asked } = trial([new Error('away'), { allowed: true }], onFailure)
    const failed = await authorizer.authorize(user, attempt('get /pods blue a'))
    expect([failed.allowed, failed.denied, failed.error]).toEqual([false, denied, 'webhook "w": away'])
    expect(await authorizer.authorize(user, attempt('get /pods blue a'))).toEqual({ allowed: true })
    expect(asked).toHaveLength(2)
  })
})

describe('match conditions of a webhook', () => {
  const compiled = (expressions: string[]) => compileConditions(expressions, 'matchConditions')

  it.each([
    ['all true', ["has(request.resourceAttributes)", "request.resourceAttributes.namespace == 'blue'"], true],
    ['one false', ["has(request.resourceAttributes)", "request.user == 'john'"], false],
    ['a group', ["'rowers' in request.groups"], true],
    ['false beats a failure', ["request.extra['x'][0] == 'y'", "request.user == 'john'"], false],
    ['a failure', ["request.extra['x'][0] == 'y'"], 'a match condition failed: no such key: x'],
    ['selectors', ["request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'app')"], true],
  ])('%s', (_, expressions, expected) => {
    const matches = compiled(expressions)
    const review = reviewOf({ ...user, extra: {} }, attempt('list /pods blue', 'labelSelector=app%3Dweb'))
    const judge = () => matches(review)
    if (typeof expected === 'string') expect(judge).toThrow(expected)
    else expect(judge()).toBe(expected)
  })

  it('that cannot be used are told in Kubernetes\' words', () => {
    const lines = [
      'matchConditions[0].expression: Required value',
      'matchConditions[1].expression: Invalid value: "request.user": must evaluate to bool',
      'matchConditions[2].expression: Invalid value: "request.nope == 1": compilation failed: ERROR: <input>:1:8: undefined field \'nope\'',
    ]
    expect(() => compiled(['', 'request.user', 'request.nope == 1'])).toThrow(lines.join('\n'))
  })

  it('keep a webhook from being asked', async () => {
    const settings = { name: 'w', authorizedTtlMs: 1, unauthorizedTtlMs: 1, timeoutMs: 1, onFailure: 'Deny' as const, matches: compiled(["request.user == 'john'"]) }
    const authorizer = new WebhookAuthorizer({ ...settings, post: () => Promise.reject(new Error('asked')) }, new VirtualClock())
    expect(await authorizer.authorize(user, attempt('get /pods blue a'))).toEqual({ allowed: false })
  })
})

describe('parseModes() and parseAuthorizationConfig()', () => {
  const ttl = { authorizedTtlMs: 1, unauthorizedTtlMs: 1 }
  it.each<[string, string[], string]>([
    ['no mode', [], 'at least one mode'], ['an unknown mode', ['Rbac'], '"Rbac" is none of'], ['a mode twice', ['RBAC', 'RBAC'], 'more than once'],
    ['a webhook of which nobody knows where it is', ['Webhook'], 'configuration file was not passed'],
  ])('refuse %s', (_, modes, why) => expect(() => parseModes(modes, ttl)).toThrow(why))

  it('read webhooks', () => {
    const webhook = { timeout: '3s', subjectAccessReviewVersion: 'v1', failurePolicy: 'Deny', connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/k' } }
    const file = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers: [{ type: 'Node', name: 'n' }, { type: 'Webhook', name: 'w', webhook }] }
    expect(parseAuthorizationConfig(file)).toEqual([{ type: 'Node' }, {
      type: 'Webhook', name: 'w', kubeConfigFile: '/k', authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000, timeoutMs: 3000, onFailure: 'Deny', matchConditions: [], conditionsAt: 'authorizers[1].webhook.matchConditions',
    }])
    const wrong = { ...file, authorizers: [{ type: 'Node', name: 'n' }, { type: 'Node', name: 'n' }, { type: 'Webhook', name: 'w', webhook: { ...webhook, timeout: 'soon' } }] }
    expect(() => parseAuthorizationConfig(wrong)).toThrow('authorizers[1].name: Duplicate value: "n"\nauthorizers[1].type: Duplicate value: "Node"\nauthorizers[2].webhook.timeout: Invalid value: "soon": must be > 0s')
    expect(() => parseAuthorizationConfig({})).toThrow('authorizers: Required value')
  })
})

describe('roles and bindings', () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const about = (kind: string, more: object) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'mine', namespace: 'default' }, ...more })
  const master: UserInfo = { name: 'root', groups: ['system:masters'] }

  /** A server on which jane may read pods, and write roles and bindings, in the namespace default. */
  async function open() {
    const trial = await ServerTrial.open({ authorization: [{ type: 'RBAC' }] })
    const rules = [rule('get list', '', 'pods'), rule('create update', 'rbac.authorization.k8s.io', 'roles rolebindings clusterroles')]
    await trial.run('POST', `${rbac}/clusterroles`, { ...about('ClusterRole', { rules }), metadata: { name: 'janes' } }, master)
    await trial.run('POST', `${rbac}/clusterrolebindings`, { ...about('ClusterRoleBinding', { roleRef: { kind: 'ClusterRole', name: 'janes' }, subjects: [{ kind: 'User', name: 'jane' }] }), metadata: { name: 'janes' } }, master)
    return trial
  }
  const groups = '(groups=["rowers" "system:authenticated"])'

  it('give no more than their writer has', async () => {
    const trial = await open()
    const write = (kind: string, more: object) => trial.run('POST', `${rbac}/namespaces/default/${kind.toLowerCase()}s`, about(kind, more), user)
    await expect(write('Role', { rules: [rule('get delete', '', 'pods secrets')] })).rejects.toThrow(
      `roles.rbac.authorization.k8s.io "mine" is forbidden: user "jane" ${groups} is attempting to grant RBAC permissions not currently held:\n` +
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
    )
    await expect(write('RoleBinding', { roleRef: { kind: 'ClusterRole', name: 'view' }, subjects: [] })).resolves.toBeDefined()
    await expect(write('RoleBinding', { roleRef: { kind: 'ClusterRole', name: 'cluster-admin' }, subjects: [{ kind: 'User', name: 'jane' }] })).rejects.toThrow(
      `rolebindings.rbac.authorization.k8s.io "mine" is forbidden: user "jane" ${groups} is attempting to grant RBAC permissions not currently held:\n` +
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
    )
    await expect(write('RoleBinding', { roleRef: { kind: 'Role', name: 'none' } })).rejects.toThrow('roles.rbac.authorization.k8s.io "none" not found')
    await expect(write('Role', { rules: [rule('get', '', 'pods', 'a')] })).resolves.toBeDefined()
    const aggregation = { metadata: { name: 'all' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
    await expect(trial.run('POST', `${rbac}/clusterroles`, about('ClusterRole', aggregation), user)).rejects.toThrow('must have cluster-admin privileges to use an aggregationRule')
  })

  it('give more where their writer may escalate or bind', async () => {
    const trial = await open()
    const more = [rule('get list', '', 'pods'), rule('create update escalate', 'rbac.authorization.k8s.io', 'roles rolebindings'), rule('bind', 'rbac.authorization.k8s.io', 'clusterroles', 'admin')]
    await trial.run('PATCH', `${rbac}/clusterroles/janes`, { rules: more }, master)
    await expect(trial.run('POST', `${rbac}/namespaces/default/roles`, about('Role', { rules: [rule('*', '*', '*')] }), user)).resolves.toBeDefined()
    const bound = (name: string) => trial.run('POST', `${rbac}/namespaces/default/rolebindings`, { ...about('RoleBinding', { roleRef: { kind: 'ClusterRole', name } }), metadata: { name } }, user)
    await expect(bound('admin')).resolves.toBeDefined()
    await expect(bound('cluster-admin')).rejects.toThrow('attempting to grant')
  })

  it('are not labelled into another role by who lacks their rules', async () => {
    const trial = await open()
    await trial.run('POST', `${rbac}/clusterroles`, { ...about('ClusterRole', { rules: [rule('*', '*', '*')] }), metadata: { name: 'all' } }, master)
    await trial.run('PATCH', `${rbac}/clusterroles/janes`, { rules: [rule('patch', 'rbac.authorization.k8s.io', 'clusterroles')] }, master)
    const label = { metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } } }
    await expect(trial.run('PATCH', `${rbac}/clusterroles/all`, label, user)).rejects.toThrow('attempting to grant')
    await expect(trial.run('PATCH', `${rbac}/clusterroles/all`, { metadata: { finalizers: ['example.com/x'] } }, user)).resolves.toBeDefined()
  })
})

describe('a request path', () => {
  /** A server on which jane has these rules in every namespace. */
  async function withRules(...rules: PolicyRule[]) {
    const trial = await ServerTrial.open({ authorization: [{ type: 'RBAC' }] })
    const root: UserInfo = { name: 'root', groups: ['system:masters'] }
    const api = '/apis/rbac.authorization.k8s.io/v1'
    await trial.run('POST', `${api}/clusterroles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'janes' }, rules }, root)
    await trial.run('POST', `${api}/clusterrolebindings`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'janes' }, roleRef: { kind: 'ClusterRole', name: 'janes' }, subjects: [{ kind: 'User', name: 'jane' }] }, root)
    return trial
  }
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', namespace: 'default' } }
  const put = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l'

  it('has a PUT that creates be allowed as a create, too', async () => {
    const trial = await withRules(rule('update', 'coordination.k8s.io', 'leases'))
    await expect(trial.run('PUT', put, lease, user)).rejects.toThrow(
      'leases.coordination.k8s.io "l" is forbidden: User "jane" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"',
    )
    const both = await withRules(rule('update create', 'coordination.k8s.io', 'leases'))
    await expect(both.run('PUT', put, lease, user)).resolves.toMatchObject({ code: 201 })
  })

  it('has a connection into a pod be allowed as a create, whatever its method', async () => {
    const trial = await withRules(rule('get', '', 'pods/exec'))
    await expect(trial.run('GET', '/api/v1/namespaces/default/pods/a/exec?command=sh', undefined, user)).rejects.toThrow('cannot create resource "pods/exec"')
  })

  it('judges a list of namespaces as one of the cluster, and one of them within itself', async () => {
    const trial = await withRules(rule('get', '', 'configmaps'))
    await expect(trial.run('GET', '/api/v1/namespaces', undefined, user)).rejects.toThrow('cannot list resource "namespaces" in API group "" at the cluster scope')
    await expect(trial.run('GET', '/api/v1/namespaces/default', undefined, user)).rejects.toThrow('in the namespace "default"')
  })
})
