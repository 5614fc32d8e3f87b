import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import type { Resource } from '../registry/resource.ts'
import { ServerTrial } from '../server-trial.ts'
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { chooseAdmission, pluginOrder } from './choose.ts'
import { admissionPlugins } from './index.ts'

const names = (plugins: readonly AdmissionPlugin[]) => plugins.map(({ name }) => name)

describe('the choice of plugins', () => {
  it('is what runs anyway, in the order of Kubernetes', () => {
    expect(names(chooseAdmission({}))).toEqual(names(admissionPlugins))
    expect(names(chooseAdmission({}))).toContain('PodSecurity')
  })

  it('adds and leaves out by name, each at its place', () => {
    const chosen = names(chooseAdmission({
      enabled: ['AlwaysDeny', 'AlwaysPullImages', 'NamespaceExists', 'MutatingAdmissionWebhook', 'Priority'],
      disabled: ['LimitRanger', 'ImagePolicyWebhook'],
    }))
    expect(chosen.filter((name) => !names(admissionPlugins).includes(name))).toEqual(
      ['NamespaceExists', 'AlwaysPullImages', 'AlwaysDeny'],
    )
    expect(chosen).not.toContain('LimitRanger')
    expect(chosen).toEqual(pluginOrder.filter((name) => chosen.includes(name)))
  })

  it.each<[string, Parameters<typeof chooseAdmission>[0], string]>([
    ['an unknown name to enable', { enabled: ['X'] }, 'enable-admission-plugins plugin "X" is unknown'],
    [
      'an unknown name to disable',
      { disabled: ['podsecurity'] },
      'disable-admission-plugins plugin "podsecurity" is unknown',
    ],
    ['a name in both', { enabled: ['Priority', 'AlwaysDeny'], disabled: ['AlwaysDeny', 'Priority'] },
      '[AlwaysDeny Priority] in enable-admission-plugins and disable-admission-plugins overlapped'],
    [
      'one that we do not have',
      { enabled: ['PodNodeSelector'] },
      'enable-admission-plugins plugin "PodNodeSelector" is not supported',
    ],
    [
      'limits that are none',
      { enabled: ['EventRateLimit'] },
      'admission plugin "EventRateLimit": limits: Invalid value: []: must not be empty',
    ],
    ['limits that are wrong',
      {
        enabled: ['EventRateLimit'],
        configurations: new Map([['EventRateLimit', { limits: [{ type: 'X', qps: 1, burst: 0 }] }]]),
      },
      '[limits[0].type: Unsupported value: "X": supported values: "Namespace", "Server", "SourceAndObject", "User", limits[0].burst: ' +
        'Invalid value: 0: must be positive]'],
    ['a policy that is none', { configurations: new Map([['PodSecurity', { defaults: { enforce: 'x' } }]]) },
      'admission plugin "PodSecurity": defaults.enforce: Invalid value: "x": must be one of privileged, baseline, restricted'],
    ['a policy of another kind', { configurations: new Map([['PodSecurity', { apiVersion: 'v1', kind: 'Pod' }]]) },
      'admission plugin "PodSecurity": no kind "Pod" is registered for version "v1"'],
    ['what a plugin is not told yet', { configurations: new Map([['ResourceQuota', { limitedResources: [] }]]) },
      'configuration of admission plugin "ResourceQuota" is not supported'],
  ])('refuses %s', (_, choice, why) => {
    expect(() => chooseAdmission(choice)).toThrow(why)
  })
})

interface Asked {
  operation?: AdmissionOperation
  old?: any
  namespace?: string
  user?: string
  now?: number
  home?: boolean
  isRepeated?: boolean
}

/** Asks one plugin, and answers what it says. */
function ask(
  plugin: AdmissionPlugin,
  plural: string,
  object: any,
  { operation = 'CREATE', old, namespace = 'ns', user = 'u', now = 0, home = true, isRepeated = false }: Asked = {},
): string {
  const request: AdmissionRequest = {
    operation, resource: { group: '', plural } as Resource, subresource: '', namespace,
    name: object?.metadata?.name ?? 'x', object, old,
    user: { name: user, groups: [] }, dryRun: false, warnings: [], now, isRepeated,
    reader: { get: () => (home ? { metadata: { name: 'ns' } } : undefined) as never, list: () => [] },
  }
  try {
    void plugin.admit?.(request)
    void plugin.validate?.(request)
  } catch (e) {
    if (e instanceof ApiError) return `${e.code} ${e.message}`
    throw e
  }
  return ''
}
const enabled = (name: string, configuration?: object) =>
  chooseAdmission(
    {
      enabled: [name],
      ...(configuration ? { configurations: new Map([[name, configuration as Record<string, unknown>]]) } : {}),
    },
  )
    .find((plugin) => plugin.name === name)!

describe('plugins that an option switches on', () => {
  it('AlwaysAdmit and AlwaysDeny do what they are called', () => {
    expect(ask(enabled('AlwaysAdmit'), 'configmaps', { metadata: { name: 'a' } })).toBe('')
    expect(ask(enabled('AlwaysDeny'), 'configmaps', { metadata: { name: 'a' } })).toBe(
      '403 configmaps "a" is forbidden: admission control is denying all modifications',
    )
  })

  it('NamespaceExists also holds back deletes', () => {
    const plugin = enabled('NamespaceExists')
    expect(ask(plugin, 'configmaps', undefined, { operation: 'DELETE', home: false })).toBe(
      '404 namespaces "ns" not found',
    )
    expect(ask(plugin, 'configmaps', undefined, { operation: 'DELETE' })).toBe('')
    expect(ask(plugin, 'nodes', { metadata: { name: 'n' } }, { namespace: '', home: false })).toBe('')
  })

  it('NamespaceAutoProvision makes what is missing, but not for a dry run', async () => {
    const trial = await ServerTrial.open({ admission: chooseAdmission({ enabled: ['NamespaceAutoProvision'] }) })
    const post = (query = '') => trial.run('POST', `/api/v1/namespaces/new/configmaps${query}`, { metadata: { name: 'a' } })
    await expect(post('?dryRun=All')).rejects.toMatchObject({ code: 404 })
    await post()
    expect(trial.parts.access.get('', 'namespaces', '', 'new')).toMatchObject({ status: { phase: 'Active' } })
  })

  it('AlwaysPullImages sets the policy of every image, unless an update brings no new one', () => {
    const pod = (image: string): any => ({
      metadata: { name: 'p' },
      spec: {
        initContainers: [{ name: 'a', image, imagePullPolicy: 'Never' }],
        containers: [{ name: 'b', image, imagePullPolicy: 'IfNotPresent' }],
        volumes: [{ name: 'v', image: { reference: image, pullPolicy: 'Never' } }, { name: 'w', emptyDir: {} }],
      },
    })
    const policies = ({ spec }: any) =>
      [spec.initContainers[0].imagePullPolicy, spec.containers[0].imagePullPolicy, spec.volumes[0].image.pullPolicy]
    const plugin = enabled('AlwaysPullImages')
    const made = pod('i')
    expect(ask(plugin, 'pods', made)).toBe('')
    expect(policies(made)).toEqual(['Always', 'Always', 'Always'])
    const kept = pod('i')
    ask(plugin, 'pods', kept, { operation: 'UPDATE', old: pod('i') })
    expect(policies(kept)).toEqual(['Never', 'IfNotPresent', 'Never'])
    const changed = pod('j')
    ask(plugin, 'pods', changed, { operation: 'UPDATE', old: pod('i') })
    expect(policies(changed)).toEqual(['Always', 'Always', 'Always'])
    expect(
      ask(
        { name: 'x', validate: plugin.validate! },
        'pods',
        { metadata: { name: 'p' }, spec: { containers: [{ name: 'b', imagePullPolicy: 'Never' }] } },
      ),
    ).toBe(
      '403 pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"',
    )
  })

  it('LimitPodHardAntiAffinityTopology allows nodes only', () => {
    const pod = (...keys: string[]) => ({
      metadata: { name: 'p' },
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey })),
          },
        },
      },
    })
    const plugin = enabled('LimitPodHardAntiAffinityTopology')
    expect(ask(plugin, 'pods', { metadata: { name: 'p' }, spec: {} })).toBe('')
    expect(ask(plugin, 'pods', pod('kubernetes.io/hostname'))).toBe('')
    expect(ask(plugin, 'pods', pod('kubernetes.io/hostname', 'zone'))).toBe(
      '403 pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    )
  })

  it('DenyServiceExternalIPs leaves a Service what it has', () => {
    const service = (...externalIPs: string[]) => ({ metadata: { name: 's' }, spec: { externalIPs } })
    const plugin = enabled('DenyServiceExternalIPs')
    const refused = '403 services "s" is forbidden: Use of external IPs is denied by admission control'
    expect(ask(plugin, 'services', service())).toBe('')
    expect(ask(plugin, 'services', service('1.1.1.1'))).toBe(refused)
    expect(
      ask(plugin, 'services', service('1.1.1.1'), { operation: 'UPDATE', old: service('1.1.1.1', '2.2.2.2') }),
    ).toBe('')
    expect(ask(plugin, 'services', service('3.3.3.3'), { operation: 'UPDATE', old: service('1.1.1.1') })).toBe(refused)
  })
})

describe('EventRateLimit', () => {
  const limited = (...limits: object[]) => enabled('EventRateLimit', { limits })
  const event =
    (name = 'o') => ({ metadata: { name: 'e' }, source: { component: 'c' }, involvedObject: { kind: 'Pod', name } })

  it('lets a burst pass, and then so many a second', () => {
    const plugin = limited({ type: 'Server', qps: 2, burst: 3 })
    const answers =
      [0, 0, 0, 0, 400, 500, 600, 5000, 5000, 5000, 5000].map((now) => ask(plugin, 'events', event(), { now }))
    const no = '429 limit reached on type Server for key '
    expect(answers).toEqual(['', '', '', no, no, '', no, '', '', '', no])
  })

  it.each<[string, object[], [Asked, string?][], string]>([
    [
      'Namespace',
      [{ type: 'Namespace', qps: 1, burst: 1 }],
      [[{ namespace: 'a' }], [{ namespace: 'b' }], [{ namespace: 'a' }]],
      'Namespace for key a',
    ],
    [
      'User',
      [{ type: 'User', qps: 1, burst: 1 }],
      [[{ user: 'a' }], [{ user: 'b' }], [{ user: 'b' }]],
      'User for key b',
    ],
    [
      'SourceAndObject',
      [{ type: 'SourceAndObject', qps: 1, burst: 1 }],
      [[{}, 'x'], [{}, 'y'], [{}, 'x']],
      'SourceAndObject for key cPodx',
    ],
    [
      'of two limits the last',
      [{ type: 'User', qps: 1, burst: 2 }, { type: 'Namespace', qps: 1, burst: 2 }],
      [[{}], [{}], [{}]],
      'Namespace for key ns',
    ],
    [
      'one that was forgotten is new',
      [{ type: 'User', qps: 1, burst: 1, cacheSize: 1 }],
      [[{ user: 'a' }], [{ user: 'b' }], [{ user: 'a' }]],
      '',
    ],
  ])('counts by %s', (_, limits, sent, refused) => {
    const plugin = limited(...limits)
    const answers = sent.map(([asked, name]) => ask(plugin, 'events', event(name), asked))
    expect(answers).toEqual(['', '', refused && `429 limit reached on type ${refused}`])
  })

  it('counts an event once that is judged twice, and nothing else', () => {
    const plugin = limited({ type: 'Server', qps: 1, burst: 1 })
    const one = event()
    expect(
      [
        ask(plugin, 'events', one), ask(plugin, 'events', one, { isRepeated: true }),
        ask(plugin, 'configmaps', event()),
      ],
    ).toEqual(['', '', ''])
    expect(ask(plugin, 'events', event())).not.toBe('')
  })
})
