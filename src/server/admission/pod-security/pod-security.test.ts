import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../api/errors.ts'
import { type PodSecurityConfiguration, readPodSecuritySettings } from '../../../api/pod-security/index.ts'
import { goodPod } from '../../../api/pod-security/sample-pods.ts'
import { MetricsRegistry } from '../../../base/metrics.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import type { Resource } from '../../registry/resource.ts'
import type { AdmissionOperation, AdmissionRequest, PluginServer } from '../admission.ts'
import { podSecurityOf } from './pod-security.ts'

interface Asked {
  operation?: AdmissionOperation
  old?: any
  subresource?: string
  user?: string
  pods?: any[]
  clock?: VirtualClock
  isRepeated?: boolean
}

const labels = (said: Record<string, string>) =>
  Object.fromEntries(Object.entries(said).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]))
const namespaceOf = (said: Record<string, string>, name = 'ns') => ({ metadata: { name, labels: labels(said) } })

/** Asks the plugin; the answer is what a client sees, and what an audit log would say. */
async function ask(
  kind: string, object: any, said: Record<string, string>, asked: Asked = {}, config: PodSecurityConfiguration = {},
  metrics?: MetricsRegistry,
) {
  const [group = '', plural = ''] = kind.includes('/') ? kind.split('/') : ['', kind]
  const annotations = new Map<string, string>()
  const request: AdmissionRequest = {
    operation: asked.operation ?? 'CREATE',
    resource: { group, plural } as Resource,
    subresource: asked.subresource ?? '',
    namespace: plural === 'namespaces' ? object.metadata.name : 'ns',
    name: object.metadata.name,
    object,
    old: asked.old,
    user: { name: asked.user ?? 'u', groups: [] },
    dryRun: false,
    warnings: [],
    reader: { get: () => namespaceOf(said) as never, list: () => (asked.pods ?? []) as never[] },
    now: 0,
    clock: asked.clock ?? new VirtualClock(0),
    isRepeated: asked.isRepeated ?? false,
    note: (key: string, value: string) => void annotations.set(key, value),
  }
  let refused = ''
  try {
    const plugin = podSecurityOf(readPodSecuritySettings(config).settings)
    await (metrics ? plugin.forServer!({ metrics } as PluginServer) : plugin).validate!(request)
  } catch (e) {
    if (!(e instanceof ApiError)) throw e
    refused = `${e.code} ${e.message}`
  }
  const audited =
    Object.fromEntries([...annotations].map(([key, value]) => [key.replace('pod-security.kubernetes.io/', ''), value]))
  return { refused, warnings: request.warnings, audited }
}

const rootPod = () => {
  const pod = goodPod()
  pod.spec.securityContext!.runAsNonRoot = false
  return pod
}
const why = 'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)'
const deployment = (spec: object) => ({ metadata: { name: 'd' }, spec: { template: { spec } } })

describe('PodSecurity and pods', () => {
  it('lets pass what the policy allows', async () => {
    expect(await ask('pods', goodPod(), { enforce: 'restricted', audit: 'restricted' })).toEqual({
      refused: '', warnings: [], audited: { 'enforce-policy': 'restricted:latest' },
    })
    expect(await ask('pods', rootPod(), {})).toEqual(
      { refused: '', warnings: [], audited: { 'enforce-policy': 'privileged:latest' } },
    )
  })

  it('refuses what is enforced, without warning of it as well', async () => {
    expect(
      await ask('pods', rootPod(), { enforce: 'restricted', 'enforce-version': 'v1.30', audit: 'restricted' }),
    ).toEqual({
      refused: `403 pods "p" is forbidden: violates PodSecurity "restricted:v1.30": ${why}`,
      warnings: [],
      audited: {
        'enforce-policy': 'restricted:v1.30',
        'audit-violations': `would violate PodSecurity "restricted:latest": ${why}`,
      },
    })
  })

  it('warns of what is not enforced', async () => {
    expect(await ask('pods', rootPod(), { enforce: 'baseline', warn: 'restricted' })).toEqual({
      refused: '', warnings: [`would violate PodSecurity "restricted:latest": ${why}`],
      audited: { 'enforce-policy': 'baseline:latest' },
    })
  })

  it('enforces the strictest where labels cannot be read', async () => {
    expect(await ask('pods', rootPod(), { enforce: 'x' })).toMatchObject({
      refused: `403 pods "p" is forbidden: violates PodSecurity "restricted:latest": ${why}`,
      audited: {
        error: 'Failed to parse policy: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of ' +
          'privileged, baseline, restricted',
      },
    })
  })

  it.each<[string, Asked, boolean]>([
    ['an update that changes nothing of it', { operation: 'UPDATE', old: rootPod() }, false],
    ['an update of an image', { operation: 'UPDATE', old: { ...rootPod(), spec: { containers: [] } } }, true],
    [
      'an ephemeral container',
      {
        operation: 'UPDATE',
        old: { ...rootPod(), spec: { ...rootPod().spec, ephemeralContainers: [] } },
        subresource: 'ephemeralcontainers',
      },
      true,
    ],
    [
      'a status',
      { operation: 'UPDATE', old: { ...rootPod(), spec: { containers: [] } }, subresource: 'status' },
      false,
    ],
    ['a binding', { subresource: 'binding' }, false],
    ['an eviction', { subresource: 'eviction' }, false],
    ['a delete', { operation: 'DELETE' }, false],
  ])('judges %s', async (_, asked, isRefused) => {
    expect((await ask('pods', rootPod(), { enforce: 'restricted' }, asked)).refused !== '').toBe(isRefused)
  })

  it.each<[string, PodSecurityConfiguration, Asked, string]>([
    ['a namespace', { exemptions: { namespaces: ['ns'] } }, {}, 'namespace'],
    ['a user', { exemptions: { usernames: ['root'] } }, { user: 'root' }, 'user'],
    ['a runtime class', { exemptions: { runtimeClasses: ['vm'] } }, {}, 'runtimeClass'],
  ])('lets %s pass that is exempt', async (_, config, asked, exempt) => {
    const pod = rootPod()
    pod.spec.runtimeClassName = 'vm'
    expect(await ask('pods', pod, { enforce: 'restricted' }, asked, config)).toEqual(
      { refused: '', warnings: [], audited: { exempt } },
    )
    expect((await ask('pods', pod, { enforce: 'restricted' })).refused).not.toBe('')
  })

  it('goes by defaults where there are no labels', async () => {
    expect(
      (await ask('pods', rootPod(), {}, {}, { defaults: { enforce: 'restricted', 'enforce-version': 'v1.25' } })).refused,
    ).toContain('"restricted:v1.25"')
  })
})

describe('PodSecurity and what makes pods', () => {
  it.each([
    ['apps/deployments', deployment(rootPod().spec)],
    ['apps.kruise.io/clonesets', deployment(rootPod().spec)],
    [
      'batch/cronjobs',
      { metadata: { name: 'c' }, spec: { jobTemplate: { spec: { template: { spec: rootPod().spec } } } } },
    ],
    ['podtemplates', { metadata: { name: 't' }, template: { spec: rootPod().spec } }],
  ])('warns of the template of %s, and never refuses it', async (kind, object) => {
    expect(await ask(kind, object, { enforce: 'restricted', audit: 'restricted', 'audit-version': 'v1.20' })).toEqual({
      refused: '',
      warnings: [`would violate PodSecurity "restricted:latest": ${why}`],
      audited: { 'audit-violations': `would violate PodSecurity "restricted:v1.20": ${why}` },
    })
  })

  it.each<[string, string, any, Record<string, string>, Asked]>([
    ['a scale', 'apps/deployments', deployment(rootPod().spec), { enforce: 'restricted' }, { subresource: 'scale' }],
    ['a template that is fine', 'apps/deployments', deployment(goodPod().spec), { enforce: 'restricted' }, {}],
    [
      'a policy that does not warn',
      'apps/deployments',
      deployment(rootPod().spec),
      { enforce: 'restricted', warn: 'privileged' },
      {},
    ],
    [
      'a controller without a template',
      'replicationcontrollers',
      { metadata: { name: 'r' }, spec: {} },
      { enforce: 'restricted' },
      {},
    ],
    ['another kind', 'configmaps', { metadata: { name: 'c' } }, { enforce: 'restricted' }, {}],
  ])('says nothing of %s', async (_, kind, object, said, asked) => {
    expect((await ask(kind, object, said, asked)).warnings).toEqual([])
  })
})

describe('PodSecurity and namespaces', () => {
  const wrong =
    '422 Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": ' +
    'must be one of privileged, baseline, restricted'

  it.each<[string, Record<string, string>, Record<string, string> | undefined, string]>([
    ['new and wrong', { enforce: 'x' }, undefined, wrong],
    ['new and right', { enforce: 'baseline', 'warn-version': 'v1.36' }, undefined, ''],
    ['changed and wrong', { enforce: 'x' }, { enforce: 'y' }, wrong],
    ['wrong as before', { enforce: 'x' }, { enforce: 'x' }, ''],
    ['right again', {}, { enforce: 'x' }, ''],
  ])('labels that are %s', async (_, now, before, refused) => {
    const asked: Asked = before ? { operation: 'UPDATE', old: namespaceOf(before) } : {}
    expect((await ask('namespaces', namespaceOf(now), {}, asked)).refused).toBe(refused)
  })

  it('says both labels that are wrong', async () => {
    expect((await ask('namespaces', namespaceOf({ warn: 'x', 'audit-version': '1' }), {})).refused).toContain(
      '[metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "1": must be "latest" or "v1.x", metadata.labels[',
    )
  })

  const podOf = (name: string, change: (pod: any) => void = () => {}, uid?: string) => {
    const pod: any = goodPod()
    pod.metadata = { name, ...(uid ? { ownerReferences: [{ uid, controller: true }] } : {}) }
    change(pod)
    return pod
  }
  const root = (pod: any) => void (pod.spec.securityContext.runAsNonRoot = false)
  const host = (pod: any) => void (pod.spec.hostPID = true)
  const stricter = (pods: any[], now: Record<string, string>, before: Record<string, string>, config: PodSecurityConfiguration = {}, clock?: VirtualClock) =>
    ask(
      'namespaces',
      namespaceOf(now),
      {},
      { operation: 'UPDATE', old: namespaceOf(before), pods, ...(clock ? { clock } : {}) },
      config,
    )
  const head = 'existing pods in namespace "ns" violate the new PodSecurity enforce level "restricted:latest"'

  it('tells of pods that are there, those with the same faults together', async () => {
    const pods = [
      podOf('c', root),
      podOf('b', root),
      podOf('a', root),
      podOf('good'),
      podOf('z', host),
      podOf('y', host),
      podOf('x', (p) => (root(p), host(p))),
    ]
    expect((await stricter(pods, { enforce: 'restricted' }, {})).warnings).toEqual([
      head, 'a (and 2 other pods): runAsNonRoot != true', 'x: host namespaces, runAsNonRoot != true',
      'y (and 1 other pod): host namespaces',
    ])
  })

  it.each<[string, Record<string, string>, Record<string, string>, number]>([
    ['the same policy', { enforce: 'restricted' }, { enforce: 'restricted' }, 0],
    ['a weaker level', { enforce: 'baseline' }, { enforce: 'restricted' }, 0],
    ['no level', {}, { enforce: 'restricted' }, 0],
    ['a stricter level', { enforce: 'restricted' }, { enforce: 'baseline' }, 2],
    ['another version', { enforce: 'restricted' }, { enforce: 'restricted', 'enforce-version': 'v1.20' }, 2],
    ['a level to warn of', { warn: 'restricted' }, {}, 0],
  ])('looks at them for %s', async (_, now, before, count) => {
    expect((await stricter([podOf('a', root)], now, before)).warnings).toHaveLength(count)
  })

  it('looks at 3,000 of them, one of each controller first', async () => {
    const many = Array.from({ length: 4000 }, (_, i) => podOf(`pod-${i}`, undefined, 'one'))
    expect((await stricter([...many, podOf('last', root, 'two')], { enforce: 'restricted' }, {})).warnings).toEqual([
      'new PodSecurity enforce level only checked against the first 3000 of 4001 existing pods', head,
      'last: runAsNonRoot != true',
    ])
  })

  it('looks at them for a second', async () => {
    const clock = new VirtualClock(0)
    const slow = Array.from({ length: 10 }, (_, i) => {
      const pod = podOf(`p${i}`)
      return { ...pod, get spec() {
        clock.advance(100)
        return pod.spec
      } }
    })
    const { warnings } = await stricter(slow, { enforce: 'baseline' }, {}, {}, clock)
    expect(warnings).toEqual(
      [expect.stringMatching(/^new PodSecurity enforce level only checked against the first \d of 10 existing pods$/)],
    )
  })

  it('leaves out those of an exempt runtime class', async () => {
    const pod = podOf('a', (p) => (root(p), (p.spec.runtimeClassName = 'vm')))
    expect(
      (await stricter([pod], { enforce: 'restricted' }, {}, { exemptions: { runtimeClasses: ['vm'] } })).warnings,
    ).toEqual([])
  })

  it('tells that a policy is ignored in a namespace that is exempt', async () => {
    const exempt = { exemptions: { namespaces: ['ns'] } }
    const ignored =
      'namespace "ns" is exempt from Pod Security, and the policy (enforce=baseline:latest) will be ignored'
    expect((await ask('namespaces', namespaceOf({ enforce: 'baseline' }), {}, {}, exempt)).warnings).toEqual([ignored])
    expect((await stricter([podOf('a', host)], { enforce: 'baseline' }, {}, exempt)).warnings).toEqual([ignored])
    expect((await ask('namespaces', namespaceOf({}), {}, {}, exempt)).warnings).toEqual([])
  })
})

describe('PodSecurity and its counters', () => {
  const series = (text: string) =>
    text.split('\n').filter((line) => line && !line.startsWith('#')).map((line) => line.replace(/^pod_security_/, ''))
  const labelled = (resource: string, operation = 'create', subresource = '') =>
    `request_operation="${operation}",resource="${resource}",subresource="${subresource}"`
  const evaluation = (decision: string, level: string, version: string, mode: string, rest: string) =>
    `evaluations_total{decision="${decision}",policy_level="${level}",policy_version="${version}",mode="${mode}",${rest}} 1`
  const podLabels = labelled('pod')
  const privileged = evaluation('allow', 'privileged', 'latest', 'enforce', podLabels)
  const exempted = (resource: string) => [`exemptions_total{${labelled(resource)}} 1`]
  const exempt = (exemptions: object) => ({ exemptions }) as PodSecurityConfiguration
  const sandboxed = () => ({ ...goodPod(), spec: { ...goodPod().spec, runtimeClassName: 'kata' } })
  const otherImage = () => ({ ...goodPod(), spec: { ...goodPod().spec, containers: [{ name: 'b', image: 'other' }] } })
  const strict = { enforce: 'restricted' }

  const rows: [string, string, any, Record<string, string>, Asked, PodSecurityConfiguration, string[]][] = [
    ['a pod of a namespace without a policy', 'pods', goodPod(), {}, {}, {}, [privileged]],
    ['of a privileged level the version does not count', 'pods', goodPod(), { 'enforce-version': 'v1.30' }, {}, {},
      [privileged]],
    ['a pod that is let in', 'pods', goodPod(), { enforce: 'baseline', 'enforce-version': 'v1.30' }, {}, {},
      [evaluation('allow', 'baseline', 'v1.30', 'enforce', podLabels)]],
    ['versions that this server does not know are one', 'pods', goodPod(),
      { enforce: 'baseline', 'enforce-version': 'v1.99' }, {}, {},
      [evaluation('allow', 'baseline', 'future', 'enforce', podLabels)]],
    ['a pod that is refused is not warned of', 'pods', rootPod(),
      { enforce: 'restricted', warn: 'restricted', audit: 'privileged' }, {}, {},
      [evaluation('deny', 'restricted', 'latest', 'enforce', podLabels)]],
    ['a violation in each mode', 'pods', rootPod(),
      { enforce: 'baseline', audit: 'restricted', warn: 'restricted', 'warn-version': 'v1.31' }, {}, {},
      [evaluation('allow', 'baseline', 'latest', 'enforce', podLabels),
        evaluation('deny', 'restricted', 'latest', 'audit', podLabels),
        evaluation('deny', 'restricted', 'v1.31', 'warn', podLabels)]],
    ['what makes pods is only warned of', 'apps/deployments', deployment(rootPod().spec),
      { enforce: 'restricted', warn: 'restricted' }, {}, {},
      [evaluation('deny', 'restricted', 'latest', 'warn', labelled('controller'))]],
    ['what makes pods, where nobody is to be warned', 'apps/deployments', deployment(rootPod().spec), {}, {}, {}, []],
    ['an exempt namespace', 'pods', rootPod(), strict, {}, exempt({ namespaces: ['ns'] }), exempted('pod')],
    ['an exempt user', 'apps/deployments', deployment(rootPod().spec), strict, { user: 'root' },
      exempt({ usernames: ['root'] }), exempted('controller')],
    ['an exempt runtime class', 'pods', sandboxed(), strict, {}, exempt({ runtimeClasses: ['kata'] }),
      exempted('pod')],
    ['labels that cannot be read', 'pods', goodPod(), { enforce: 'tight' }, {}, {},
      [evaluation('allow', 'restricted', 'latest', 'enforce', podLabels),
        `errors_total{fatal="false",${podLabels}} 1`]],
    ['an update of an image', 'pods', goodPod(), strict, { operation: 'UPDATE', old: otherImage() }, {},
      [evaluation('allow', 'restricted', 'latest', 'enforce', labelled('pod', 'update'))]],
    ['an update of nothing that counts', 'pods', rootPod(), strict, { operation: 'UPDATE', old: goodPod() }, {}, []],
    ['a status', 'pods', rootPod(), strict, { operation: 'UPDATE', old: goodPod(), subresource: 'status' }, {}, []],
    ['what has been judged before', 'pods', rootPod(), { enforce: 'baseline', warn: 'restricted' },
      { isRepeated: true }, {}, []],
  ]
  it.each(rows)('%s', async (_what, kind, object, said, asked, config, expected) => {
    const metrics = new MetricsRegistry()
    await ask(kind, object, said, asked, config, metrics)
    expect(series(metrics.text())).toEqual(expected)
  })
})
