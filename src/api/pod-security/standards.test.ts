import { describe, expect, it } from 'vitest'
import { allChecks, detailsText, newestVersion, objectionsTo, reasonsText } from './evaluate.ts'
import { type LevelVersion, latest, levelVersionText } from './policy.ts'
import {
  type Expected, type Row, containerRows, goodPod, podRows, withAnnotations, withSpec, withVolumes,
} from './sample-pods.ts'

const context = (securityContext: object) => ({ securityContext })
const added = (...add: string[]) => context({ capabilities: { add } })
const addedText = (...names: string[]) =>
  `({who} must not include ${names.map((n) => `"${n}"`).join(', ')} in securityContext.capabilities.add)`

/** Capabilities that most containers have anyway. */
const usual =
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' ')
const unusual = ['NET_RAW', 'SYS_ADMIN', 'NET_ADMIN', 'ALL', 'CAP_CHOWN', 'chown']
const since22 = (text: string) => ({ since: 22, text: `unrestricted capabilities ${text}` })

const probed = (host: string) => ({ httpGet: { host, port: 80 } })
const connected = (host: string) => ({ tcpSocket: { host, port: 80 } })
const probe = { since: 34, text: 'probe or lifecycle host ({who} {uses} probe or lifecycle host "10.0.0.1")' }
const unmasked = 'procMount ({who} must not set securityContext.procMount to "Unmasked")'
const linuxText = (what: string) => `seLinuxOptions ({who} set forbidden securityContext.seLinuxOptions: ${what})`

const ofContainers = containerRows([
  ['nothing changed', {}],
  [
    'privileged',
    context({ privileged: true }),
    { baseline: 'privileged ({who} must not set securityContext.privileged=true)' },
  ],
  ['not privileged', context({ privileged: false })],
  [
    'a host port',
    { ports: [{ containerPort: 80, hostPort: 80 }] },
    { baseline: 'hostPort ({who} {uses} hostPort 80)' },
  ],
  [
    'two host ports',
    { ports: [{ hostPort: 80 }, { hostPort: 443 }] },
    { baseline: 'hostPort ({who} {uses} hostPorts 443, 80)' },
  ],
  ['a port', { ports: [{ containerPort: 80 }] }],
  ['host port 0', { ports: [{ containerPort: 80, hostPort: 0 }] }],
  ['all of /proc', context({ procMount: 'Unmasked' }), { baseline: unmasked }],
  ['the usual /proc', context({ procMount: 'Default' })],
  ['AppArmor of the runtime', context({ appArmorProfile: { type: 'RuntimeDefault' } })],
  ['AppArmor of the host', context({ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } })],
  ['no AppArmor', context({ appArmorProfile: { type: 'Unconfined' } }),
    { baseline: 'forbidden AppArmor profile ({who} must not set AppArmor profile type to "Unconfined")' }],
  ...['container_t', 'container_init_t', 'container_kvm_t', ''].map((type): [string, object] =>
    [`SELinux type ${type || 'empty'}`, context({ seLinuxOptions: { type } })]),
  ['SELinux type container_engine_t', context({ seLinuxOptions: { type: 'container_engine_t' } }),
    { baseline: { until: 31, text: linuxText('type "container_engine_t"') } }],
  ['SELinux type spc_t', context({ seLinuxOptions: { type: 'spc_t' } }), { baseline: linuxText('type "spc_t"') }],
  ['SELinux user', context({ seLinuxOptions: { user: 'u' } }), { baseline: linuxText('user may not be set') }],
  ['SELinux role', context({ seLinuxOptions: { role: 'r' } }), { baseline: linuxText('role may not be set') }],
  ['SELinux with everything', context({ seLinuxOptions: { type: 't', user: 'u', role: 'r' } }),
    { baseline: linuxText('type "t"; user may not be set; role may not be set') }],
  ['SELinux level', context({ seLinuxOptions: { level: 's0:c1' } })],
  ['seccomp of the runtime', context({ seccompProfile: { type: 'RuntimeDefault' } })],
  ['seccomp of the host', context({ seccompProfile: { type: 'Localhost', localhostProfile: 'x' } })],
  ['no seccomp', context({ seccompProfile: { type: 'Unconfined' } }),
    {
      baseline: {
        since: 19, text: 'seccompProfile ({who} must not set securityContext.seccompProfile.type to "Unconfined")',
      },
    }],
  ['capability NET_BIND_SERVICE', added('NET_BIND_SERVICE')],
  ...usual.map(
    (name): [string, object, object] => [`capability ${name}`, added(name), { restricted: since22(addedText(name)) }],
  ),
  ...unusual.map((name): [string, object, object] => [
    `capability ${name}`,
    added(name),
    {
      baseline: `non-default capabilities ${addedText(name)}`,
      restricted: [{ until: 22, text: `non-default capabilities ${addedText(name)}` }, since22(addedText(name))],
    },
  ]),
  [
    'capabilities kept',
    context({ capabilities: undefined }),
    { restricted: since22('({who} must set securityContext.capabilities.drop=["ALL"])') },
  ],
  ['some capabilities dropped', context({ capabilities: { drop: ['NET_RAW', 'all'] } }),
    { restricted: since22('({who} must set securityContext.capabilities.drop=["ALL"])') }],
  ['kept, and one more', context({ capabilities: { drop: [], add: ['KILL'] } }), {
    restricted: since22(
      '({who} must set securityContext.capabilities.drop=["ALL"]; {who} must not include "KILL" in securityContext.capabilities.add)',
    ),
  }],
  ...[true, undefined].map((allowPrivilegeEscalation): [string, object, object] => [
    `escalation ${allowPrivilegeEscalation ?? 'not said'}`,
    context({ allowPrivilegeEscalation }),
    {
      restricted: {
        since: 8,
        text: 'allowPrivilegeEscalation != false ({who} must set securityContext.allowPrivilegeEscalation=false)',
      },
    },
  ]),
  ['root', context({ runAsNonRoot: false }),
    { restricted: 'runAsNonRoot != true ({who} must not set securityContext.runAsNonRoot=false)' }],
  ['no root', context({ runAsNonRoot: true })],
  [
    'user 0',
    context({ runAsUser: 0 }),
    { restricted: { since: 23, text: 'runAsUser=0 ({who} must not set runAsUser=0)' } },
  ],
  ['user 1000', context({ runAsUser: 1000 })],
  ['group 0', context({ runAsGroup: 0 })],
  ['a process of the host', context({ windowsOptions: { hostProcess: true } }),
    { baseline: 'hostProcess ({who} must not set securityContext.windowsOptions.hostProcess=true)' }],
  ['no process of the host', context({ windowsOptions: { hostProcess: false } })],
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((field): [string, object, object?][] => [
    [`${field} over HTTP`, { [field]: probed('10.0.0.1') }, { baseline: probe }],
    [`${field} over TCP`, { [field]: connected('10.0.0.1') }, { baseline: probe }],
    [`${field} of the pod`, { [field]: { httpGet: { port: 80 } } }],
  ]),
  ...['postStart', 'preStop'].flatMap((hook): [string, object, object?][] => [
    [`${hook} over HTTP`, { lifecycle: { [hook]: probed('10.0.0.1') } }, { baseline: probe }],
    [`${hook} over TCP`, { lifecycle: { [hook]: connected('10.0.0.1') } }, { baseline: probe }],
    [`${hook} in the container`, { lifecycle: { [hook]: { exec: { command: ['x'] } } } }],
  ]),
  ['two probed hosts', { livenessProbe: probed('b'), lifecycle: { preStop: connected('a') } },
    { baseline: { since: 34, text: 'probe or lifecycle host ({who} {uses} probe or lifecycle hosts "a", "b")' } }],
  ['its own loopback probed', { livenessProbe: probed('127.0.0.1') },
    { baseline: { since: 34, text: 'probe or lifecycle host ({who} {uses} probe or lifecycle host "127.0.0.1")' } }],
])

const sysctl = (name: string) => withSpec({ securityContext: { sysctls: [{ name, value: '1' }] } })
const sysctlsSince: Record<number, string> = {
  0: 'kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_unprivileged_port_start',
  27: 'net.ipv4.ip_local_reserved_ports',
  29: 'net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes',
  32: 'net.ipv4.tcp_rmem net.ipv4.tcp_wmem',
}
const allowedVolumes =
  'configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret'.split(' ')
const forbiddenVolumes = ('gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile ' +
  'vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos').split(' ')
const volumeText = (type: string) => `restricted volume types (volume "v" uses restricted volume type "${type}")`
const appArmorKey = 'container.apparmor.security.beta.kubernetes.io/b'
const seccompKey = 'seccomp.security.alpha.kubernetes.io/pod'
const everyone = 'containers "a", "b", "c"'
const bare = (pod: ReturnType<typeof goodPod>) => {
  for (const c of [...pod.spec.initContainers!, ...pod.spec.containers, ...pod.spec.ephemeralContainers!]) delete c.securityContext
  pod.spec.securityContext = { runAsNonRoot: true }
}
const bareTexts: Expected[] = [
  {
    since: 8,
    text: `allowPrivilegeEscalation != false (${everyone} must set securityContext.allowPrivilegeEscalation=false)`,
  },
  { since: 22, text: `unrestricted capabilities (${everyone} must set securityContext.capabilities.drop=["ALL"])` },
  {
    since: 19,
    text: `seccompProfile (pod or ${everyone} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
  },
]

const ofPods = podRows([
  ['the host network', withSpec({ hostNetwork: true }), { baseline: 'host namespaces (hostNetwork=true)' }],
  ['processes of the host', withSpec({ hostPID: true }), { baseline: 'host namespaces (hostPID=true)' }],
  ['memory of the host', withSpec({ hostIPC: true }), { baseline: 'host namespaces (hostIPC=true)' }],
  ['all that is the host’s', withSpec({ hostIPC: true, hostPID: true, hostNetwork: true }),
    { baseline: 'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)' }],
  ['nothing of the host', withSpec({ hostIPC: false, hostPID: false, hostNetwork: false })],
  ['a directory of the host', withVolumes({ name: 'v', hostPath: { path: '/' } }),
    { baseline: 'hostPath volumes (volume "v")', restricted: volumeText('hostPath') }],
  ['two directories of the host', withVolumes({ name: 'v', hostPath: {} }, { name: 'w', hostPath: {} }), {
    baseline: 'hostPath volumes (volumes "v", "w")',
    restricted: 'restricted volume types (volumes "v", "w" use restricted volume type "hostPath")',
  }],
  ['two types of volumes', withVolumes({ name: 'v', rbd: {} }, { name: 'w', nfs: {} }, { name: 'x', secret: {} }),
    { restricted: 'restricted volume types (volumes "v", "w" use restricted volume types "nfs", "rbd")' }],
  ['a volume of a type that is not known', withVolumes({ name: 'v' }), { restricted: volumeText('unknown') }],
  ...allowedVolumes.map((type): [string, any] => [`volume ${type}`, withVolumes({ name: 'v', [type]: {} })]),
  ...forbiddenVolumes.map(
    (type): [string, any, object] =>
      [`volume ${type}`, withVolumes({ name: 'v', [type]: {} }), { restricted: volumeText(type) }],
  ),
  ...Object.entries(sysctlsSince).flatMap(([since, names]) => names.split(' ').map((name): [string, any, object] => [
    `sysctl ${name}`, sysctl(name), { baseline: { until: Number(since), text: `forbidden sysctls (${name})` } },
  ])),
  ['another sysctl', sysctl('kernel.msgmax'), { baseline: 'forbidden sysctls (kernel.msgmax)' }],
  ['AppArmor of the runtime, in the old way', withAnnotations({ [appArmorKey]: 'runtime/default' })],
  ['AppArmor of the host, in the old way', withAnnotations({ [appArmorKey]: 'localhost/x' })],
  ['AppArmor empty, in the old way', withAnnotations({ [appArmorKey]: '' })],
  ['no AppArmor, in the old way', withAnnotations({ [appArmorKey]: 'unconfined' }),
    {
      baseline: `forbidden AppArmor profile (annotation must not set AppArmor profile type to "${appArmorKey}="unconfined"")`,
    }],
  ['no AppArmor, in the old way and the new', (pod) => {
    withAnnotations({ [appArmorKey]: 'unconfined' })(pod)
    withSpec({ securityContext: { appArmorProfile: { type: 'Unconfined' } } })(pod)
  }, {
    baseline: `forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", "${appArmorKey}="unconfined"")`,
  }],
  ...['runtime/default', 'docker/default', 'localhost/x'].map((value): [string, any] =>
    [`seccomp ${value}, in the old way`, withAnnotations({ [seccompKey]: value })]),
  ['no seccomp, in the old way', withAnnotations({ [seccompKey]: 'unconfined' }),
    { baseline: { until: 19, text: `seccompProfile (forbidden annotation ${seccompKey}="unconfined")` } }],
  ['no seccomp in two containers, in the old way',
    withAnnotations(
      {
        'container.seccomp.security.alpha.kubernetes.io/b': 'x', 'container.seccomp.security.alpha.kubernetes.io/a': '',
      },
    ),
    { baseline: { until: 19, text: 'seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="", ' +
      'container.seccomp.security.alpha.kubernetes.io/b="x")' } }],
  ['no seccomp for the pod', withSpec({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
    {
      baseline: {
        since: 19, text: 'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
      },
    }],
  ['seccomp not said', withSpec({ securityContext: { seccompProfile: undefined } }), { restricted: bareTexts[2]! }],
  ['no AppArmor for the pod', withSpec({ securityContext: { appArmorProfile: { type: 'Unconfined' } } }),
    { baseline: 'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")' }],
  ['SELinux user of the pod', withSpec({ securityContext: { seLinuxOptions: { user: 'u' } } }),
    { baseline: 'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: user may not be set)' }],
  ['root in the whole pod', withSpec({ securityContext: { runAsNonRoot: false } }),
    { restricted: 'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)' }],
  ['root not said', withSpec({ securityContext: { runAsNonRoot: undefined } }),
    { restricted: `runAsNonRoot != true (pod or ${everyone} must set securityContext.runAsNonRoot=true)` }],
  ['user 0 for the pod', withSpec({ securityContext: { runAsUser: 0 } }),
    { restricted: { since: 23, text: 'runAsUser=0 (pod must not set runAsUser=0)' } }],
  ['a pod of processes of the host', withSpec({ securityContext: { windowsOptions: { hostProcess: true } } }),
    { baseline: 'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)' }],
  ['users of its own: root', withSpec({ hostUsers: false, securityContext: { runAsNonRoot: false } }),
    { restricted: { until: 35, text: 'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)' } }],
  ['users of its own: user 0', withSpec({ hostUsers: false, securityContext: { runAsUser: 0 } }),
    { restricted: { since: 23, until: 35, text: 'runAsUser=0 (pod must not set runAsUser=0)' } }],
  ['users of its own: all of /proc', (pod) => {
    withSpec({ hostUsers: false })(pod)
    pod.spec.containers[0]!.securityContext!.procMount = 'Unmasked'
  }, {
    baseline: { until: 35, text: unmasked.replace('{who}', 'container "b"') },
    restricted: unmasked.replace('{who}', 'container "b"'),
  }],
  ['users of the host: user 0', withSpec({ hostUsers: true, securityContext: { runAsUser: 0 } }),
    { restricted: { since: 23, text: 'runAsUser=0 (pod must not set runAsUser=0)' } }],
  ['nothing said', bare, { restricted: bareTexts }],
  ['nothing said, on Windows', (pod) => {
    bare(pod)
    withSpec({ os: { name: 'windows' } })(pod)
  }, { restricted: bareTexts.map((e) => ({ ...e, until: 25 })) }],
  ['nothing said, on Linux', (pod) => {
    bare(pod)
    withSpec({ os: { name: 'linux' } })(pod)
  }, { restricted: bareTexts }],
])

const rows: readonly Row[] = [...ofContainers, ...ofPods]

/** One of each group of versions between which no check changes, its last ones where it is the newest. */
const versions = [0, 7, 8, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 99, latest]
const policies = (['privileged', 'baseline', 'restricted'] as const).flatMap(
  (level) => versions.map((version): LevelVersion => ({ level, version })),
)
const wordsOf = (row: Row, { level, version }: LevelVersion) =>
  (level === 'privileged' ? [] : row[level]).filter(
    ({ since = 0, until = Infinity }) => version >= since && (version < until || until === Infinity),
  )
    .map(({ text }) => text).join(', ')

describe('the Pod Security Standards', () => {
  it.each(policies.map((policy) => [levelVersionText(policy), policy] as const))('%s', (_, policy) => {
    const found = rows.map(({ name, pod }) => [name, detailsText(objectionsTo(pod.metadata, pod.spec, policy))])
    expect(found).toEqual(rows.map((row) => [row.name, wordsOf(row, policy)]))
    const refused = found.filter(([, text]) => text !== '').length
    expect(rows.length).toBeGreaterThanOrEqual(150)
    if (policy.level === 'baseline') expect(Math.min(refused, rows.length - refused)).toBeGreaterThanOrEqual(50)
  })

  it('tells everything at once, baseline first, each level by the names of its checks', () => {
    const pod = goodPod()
    withSpec(
      {
        hostPID: true,
        securityContext: {
          runAsNonRoot: undefined, sysctls: [{ name: 'x', value: '1' }], seLinuxOptions: { user: 'u' },
        },
      },
    )(pod)
    pod.spec.containers[0]!.securityContext = { privileged: true }
    const objections = objectionsTo(pod.metadata, pod.spec, { level: 'restricted', version: latest })
    expect(reasonsText(objections)).toBe(
      'host namespaces, privileged, seLinuxOptions, forbidden sysctls, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true',
    )
  })

  it('has each check once, each with its versions in order', () => {
    expect(new Set(allChecks.map(({ id }) => id)).size).toBe(allChecks.length)
    expect(allChecks).toHaveLength(19)
    for (const { versions: all } of allChecks) expect(all.map(({ since }) => since)).toEqual(
      [...new Set(all.map(({ since }) => since))].sort((a, b) => a - b),
    )
    expect(newestVersion).toBe(35)
  })
})
