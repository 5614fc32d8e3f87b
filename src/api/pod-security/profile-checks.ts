import type { AnyContainer } from '../kinds/containers/visit-containers.ts'
import type { SELinuxOptions } from '../generated/types.ts'
import {
  type Check,
  type CheckPod,
  type Objection,
  containersText,
  isWindows,
  namesOf,
  plural,
  quoted,
  settersText,
  sorted,
  unless,
} from './check.ts'

const isKnownProfile = (type: string | undefined) => type === 'RuntimeDefault' || type === 'Localhost'
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const isKnownAppArmor = (value: string) => value === '' || value === 'runtime/default' || value.startsWith('localhost/')

const appArmor: CheckPod = (pod) => {
  const wrongOf = (context: AnyContainer['securityContext']) =>
    context?.appArmorProfile && !isKnownProfile(context.appArmorProfile.type)
      ? [context.appArmorProfile.type ?? '']
      : []
  const ofPod = wrongOf(pod.spec.securityContext)
  const names = namesOf(pod, ({ securityContext }) => wrongOf(securityContext).length > 0)
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isKnownAppArmor(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
  const setters = [
    ...(ofPod.length || names.length ? [settersText(ofPod.length > 0, names)] : []),
    ...(annotations.length ? [plural('annotation', 'annotations', annotations.length)] : []),
  ]
  if (setters.length === 0) return undefined
  const types = sorted([...ofPod, ...pod.containers.flatMap(({ securityContext }) => wrongOf(securityContext))])
  const values = [...types, ...annotations]
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const seLinux =
  (types: readonly string[]): CheckPod =>
  (pod) => {
    const isWrong = (options: SELinuxOptions | undefined) =>
      options !== undefined && (!types.includes(options.type ?? '') || Boolean(options.user) || Boolean(options.role))
    const all = [pod.spec.securityContext, ...pod.containers.map((c) => c.securityContext)].flatMap(
      (c) => c?.seLinuxOptions ?? [],
    )
    const names = namesOf(pod, ({ securityContext }) => isWrong(securityContext?.seLinuxOptions))
    const setters = settersText(isWrong(pod.spec.securityContext?.seLinuxOptions), names)
    if (setters === '') return undefined
    const wrongTypes = sorted(all.map(({ type = '' }) => type).filter((type) => !types.includes(type)))
    const problems = [
      ...(wrongTypes.length ? [`${plural('type', 'types', wrongTypes.length)} ${quoted(wrongTypes)}`] : []),
      ...(all.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role) ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${problems.join('; ')}`,
    }
  }

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']

const seccompPodAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
export const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/'
const isKnownSeccomp = (value: string) =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')

const seccompAnnotations: CheckPod = ({ annotations, containers }) => {
  const keys = [seccompPodAnnotation, ...containers.map(({ name }) => seccompContainerPrefix + name)]
  const wrong = sorted(
    keys.flatMap((key) => {
      const value = annotations[key]
      return value === undefined || isKnownSeccomp(value) ? [] : [`${key}=${JSON.stringify(value)}`]
    }),
  )
  if (wrong.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', 'annotations', wrong.length)} ${wrong.join(', ')}`,
  }
}

/** Profiles that are set and not allowed. */
const seccompNamed: CheckPod = (pod) => {
  const wrongOf = (context: AnyContainer['securityContext']) =>
    context?.seccompProfile && !isKnownProfile(context.seccompProfile.type) ? [context.seccompProfile.type ?? ''] : []
  const ofPod = wrongOf(pod.spec.securityContext)
  const setters = settersText(
    ofPod.length > 0,
    namesOf(pod, ({ securityContext }) => wrongOf(securityContext).length > 0),
  )
  if (setters === '') return undefined
  const types = sorted([...ofPod, ...pod.containers.flatMap(({ securityContext }) => wrongOf(securityContext))])
  return {
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  }
}

const seccompRequired: CheckPod = (pod) => {
  const objection = seccompNamed(pod)
  if (objection || pod.spec.securityContext?.seccompProfile) return objection
  const names = namesOf(pod, ({ securityContext }) => !securityContext?.seccompProfile)
  if (names.length === 0) return undefined
  const must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
  return { reason: 'seccompProfile', detail: `pod or ${containersText(names)} ${must}` }
}

const sysctls =
  (allowed: readonly string[]): CheckPod =>
  ({ spec }) => {
    const wrong = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !allowed.includes(name))
    return wrong.length ? { reason: 'forbidden sysctls', detail: wrong.join(', ') } : undefined
  }

const sysctlsOf0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const sysctlsOf27 = [...sysctlsOf0, 'net.ipv4.ip_local_reserved_ports']
const sysctlsOf29 = [
  ...sysctlsOf27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const sysctlsOf32 = [...sysctlsOf29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

const usualCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

function addedDetail(pod: Parameters<CheckPod>[0], isAllowed: (capability: string) => boolean): string | undefined {
  const wrongOf = ({ securityContext }: AnyContainer) =>
    (securityContext?.capabilities?.add ?? []).filter((c) => !isAllowed(c))
  const names = namesOf(pod, (container) => wrongOf(container).length > 0)
  if (names.length === 0) return undefined
  const capabilities = quoted(sorted(pod.containers.flatMap(wrongOf)))
  return `${containersText(names)} must not include ${capabilities} in securityContext.capabilities.add`
}

const addedCapabilities: CheckPod = (pod): Objection | undefined => {
  const detail = addedDetail(pod, (capability) => usualCapabilities.has(capability))
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}

const fewCapabilities: CheckPod = (pod) => {
  const keeping = namesOf(pod, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'))
  const added = addedDetail(pod, (capability) => capability === 'NET_BIND_SERVICE')
  const details = [
    ...(keeping.length ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(added === undefined ? [] : [added]),
  ]
  return details.length ? { reason: 'unrestricted capabilities', detail: details.join('; ') } : undefined
}

/** Checks of kernel confinement: AppArmor, SELinux, seccomp, sysctls and capabilities. */
export const profileChecks: readonly Check[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: [{ since: 0, run: appArmor }] },
  { id: 'capabilities_baseline', level: 'baseline', versions: [{ since: 0, run: addedCapabilities }] },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [
      { since: 22, run: fewCapabilities, overrides: 'capabilities_baseline' },
      { since: 25, run: unless(isWindows, fewCapabilities), overrides: 'capabilities_baseline' },
    ],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      { since: 0, run: seLinux(seLinuxTypes) },
      { since: 31, run: seLinux([...seLinuxTypes, 'container_engine_t']) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 0, run: seccompAnnotations },
      { since: 19, run: seccompNamed },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      { since: 19, run: seccompRequired, overrides: 'seccompProfile_baseline' },
      { since: 25, run: unless(isWindows, seccompRequired), overrides: 'seccompProfile_baseline' },
    ],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: [
      { since: 0, run: sysctls(sysctlsOf0) },
      { since: 27, run: sysctls(sysctlsOf27) },
      { since: 29, run: sysctls(sysctlsOf29) },
      { since: 32, run: sysctls(sysctlsOf32) },
    ],
  },
]
