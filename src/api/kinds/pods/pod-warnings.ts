import type {
  ContainerPort,
  EnvVar,
  NodeSelectorTerm,
  ObjectMeta,
  Pod,
  PodAffinity,
  PodSpec,
} from '../../generated/types.ts'
import { quantityIsInteger } from '../../numbers/quantity.ts'
import { isDns1123Label, isLabelValue } from '../../validation/names.ts'
import { Path } from '../../validation/path.ts'
import { deprecatedNodeLabels } from '../placement/node-matching.ts'
import {
  appArmorFromAnnotation,
  appArmorPrefix,
  seccompContainerPrefix,
  seccompPodAnnotation,
} from '../containers/security-profiles.ts'
import { visitContainers } from '../containers/visit-containers.ts'
import { volumeWarnings } from '../volumes/volume-warnings.ts'

const deprecatedAnnotations: Record<string, string> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
}

const noPod = 'a null labelSelector results in matching no pod'
const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredField = 'preferredDuringSchedulingIgnoredDuringExecution'

function termWarnings(term: NodeSelectorTerm | undefined, path: Path, isPreference: boolean): string[] {
  return (term?.matchExpressions ?? []).flatMap(({ key, values }, i) => {
    const at = path.child('matchExpressions').index(i)
    const old = deprecatedNodeLabels.get(key)
    return [
      ...(old ? [`${at.child('key')}: ${key} is ${old}`] : []),
      ...(isPreference ? (values ?? []) : []).flatMap((value, j) =>
        isLabelValue(value).map(
          (problem) => `${at.child('values').index(j)}: ${JSON.stringify(value)} is invalid, ${problem}`,
        ),
      ),
    ]
  })
}

function nodeLabelWarnings(spec: PodSpec, path: Path): string[] {
  const affinity = spec.affinity?.nodeAffinity
  const at = path.child('affinity', 'nodeAffinity')
  return [
    ...Object.keys(spec.nodeSelector ?? {})
      .filter((key) => deprecatedNodeLabels.get(key))
      .map((key) => `${path.child('nodeSelector').key(key)}: ${deprecatedNodeLabels.get(key)}`),
    ...(affinity?.[requiredField]?.nodeSelectorTerms ?? []).flatMap((term, i) =>
      termWarnings(term, at.child(requiredField, 'nodeSelectorTerms').index(i), false),
    ),
    ...(affinity?.[preferredField] ?? []).flatMap((term, i) =>
      termWarnings(term.preference, at.child(preferredField).index(i).child('preference'), true),
    ),
    ...(spec.topologySpreadConstraints ?? []).flatMap((constraint, i) => {
      const constraintPath = path.child('topologySpreadConstraints').index(i)
      const old = deprecatedNodeLabels.get(constraint.topologyKey)
      return [
        ...(old ? [`${constraintPath.child('topologyKey')}: ${constraint.topologyKey} is ${old}`] : []),
        ...(constraint.labelSelector ? [] : [`${constraintPath.child('labelSelector')}: ${noPod}`]),
      ]
    }),
  ]
}

function repeated(items: readonly string[], say: (i: number) => string): string[] {
  const seen = new Set<string>()
  return items.length < 2 ? [] : items.flatMap((item, i) => (seen.size < seen.add(item).size ? [] : [say(i)]))
}

const byteResources = ['memory', 'ephemeral-storage'] as const

function warnOfFractions(list: Record<string, string> | undefined, path: () => Path, warnings: string[]): void {
  if (!list) return
  for (const name of byteResources) {
    const quantity = list[name]
    if (quantity === undefined || quantityIsInteger(quantity)) continue
    warnings.push(
      `${path().key(name)}: fractional byte value ${JSON.stringify(quantity)} is invalid, must be an integer`,
    )
  }
}

function envWarnings(env: readonly EnvVar[], path: Path): string[] {
  const warnings: string[] = []
  const seen = new Set<string>()
  for (const [i, { name, value, valueFrom }] of env.entries()) {
    if (!seen.has(name)) {
      seen.add(name)
      continue
    }
    // A later value may refer to the earlier one on purpose: X="abc", X="$(X)123".
    const reference = `$(${name})`
    if (!valueFrom && value !== reference && value?.includes(reference)) continue
    warnings.push(
      `${path.child('env').index(i)}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    )
  }
  return warnings
}

function portWarnings(spec: PodSpec, path: Path): string[] {
  const warnings: string[] = []
  const known = new Map<string, { port: ContainerPort; at: Path }[]>()
  visitContainers(spec, path, (container, containerPath) => {
    for (const [i, port] of (container.ports ?? []).entries()) {
      const at = containerPath.child('ports').index(i)
      const [hostPort, hostIP] = [port.hostPort ?? 0, port.hostIP ?? '']
      if (hostIP && !hostPort) {
        const shown = `{Name:${port.name ?? ''} HostPort:0 ContainerPort:${port.containerPort} Protocol:${port.protocol} HostIP:${hostIP}}`
        warnings.push(`${at}: hostIP set without hostPort: ${shown}`)
      }
      const key = `${port.containerPort}/${port.protocol}`
      const others = known.get(key)
      if (!others) {
        known.set(key, [{ port, at }])
        continue
      }
      for (const { port: other, at: otherAt } of others) {
        const [otherPort, otherIP] = [other.hostPort ?? 0, other.hostIP ?? '']
        if (hostIP === otherIP && hostPort === otherPort)
          warnings.push(`${at}: duplicate port definition with ${otherAt}`)
        else if (hostPort === 0 || otherPort === 0) warnings.push(`${at}: overlapping port definition with ${otherAt}`)
        else if (hostPort === otherPort && (hostIP === '') !== (otherIP === '')) {
          warnings.push(`${at}: dangerously ambiguous port definition with ${otherAt}`)
        }
      }
      others.push({ port, at })
    }
  })
  return warnings
}

function podAffinityWarnings(affinity: PodAffinity | undefined, path: Path): string[] {
  return [
    ...(affinity?.[requiredField] ?? []).flatMap((term, i) =>
      term.labelSelector ? [] : [`${path.child(requiredField).index(i).child('labelSelector')}: ${noPod}`],
    ),
    ...(affinity?.[preferredField] ?? []).flatMap((term, i) =>
      term.podAffinityTerm.labelSelector
        ? []
        : [`${path.child(preferredField).index(i).child('podAffinityTerm', 'labelSelector')}: ${noPod}`],
    ),
  ]
}

function containerWarnings(
  spec: PodSpec,
  annotations: Record<string, string>,
  path: Path,
  metaPath: Path,
  isTemplate: boolean,
): string[] {
  const warnings: string[] = []
  const annotation = (key: string, message: string) => `${metaPath.child('annotations').key(key)}: ${message}`
  const podAppArmor = spec.securityContext?.appArmorProfile
  visitContainers(spec, path, (container, at) => {
    const seccompKey = seccompContainerPrefix + container.name
    if (annotations[seccompKey] !== undefined && !container.securityContext?.seccompProfile) {
      warnings.push(annotation(seccompKey, 'non-functional in v1.27+; use the "seccompProfile" field instead'))
    }
    const appArmorKey = appArmorPrefix + container.name
    const appArmor = annotations[appArmorKey]
    // In a pod, the field was already set from the annotation; in a template it was not.
    const isOnlyAnnotated = isTemplate
      ? !container.securityContext?.appArmorProfile && !podAppArmor
      : appArmorFromAnnotation(appArmor ?? '') !== undefined
    if (appArmor !== undefined && isOnlyAnnotated) {
      warnings.push(annotation(appArmorKey, 'deprecated since v1.30; use the "appArmorProfile" field instead'))
    }
    warnOfFractions(container.resources?.limits, () => at.child('resources', 'limits'), warnings)
    warnOfFractions(container.resources?.requests, () => at.child('resources', 'requests'), warnings)
    if (container.env && container.env.length > 1) warnings.push(...envWarnings(container.env, at))
  })
  return warnings
}

function annotationWarnings(annotations: Record<string, string>, spec: PodSpec, path: Path): string[] {
  const warnings = Object.keys(deprecatedAnnotations)
    .filter((key) => annotations[key] !== undefined)
    .map((key) => `${path.key(key)}: ${deprecatedAnnotations[key]}`)
  if (annotations[seccompPodAnnotation] !== undefined && !spec.securityContext?.seccompProfile) {
    warnings.push(`${path.key(seccompPodAnnotation)}: non-functional in v1.27+; use the "seccompProfile" field instead`)
  }
  return warnings
}

function repetitionWarnings(spec: PodSpec, path: Path): string[] {
  const addresses = (spec.hostAliases ?? []).map((alias) => alias.ip ?? '')
  const secrets = (spec.imagePullSecrets ?? []).map((secret) => secret.name ?? '')
  const secretPath = (i: number) => path.child('imagePullSecrets').index(i).child('name')
  return [
    ...repeated(
      addresses,
      (i) => `${path.child('hostAliases').index(i).child('ip')}: duplicate ip ${JSON.stringify(addresses[i])}`,
    ),
    ...repeated(secrets, (i) => `${secretPath(i)}: duplicate name ${JSON.stringify(secrets[i])}`),
    ...secrets.flatMap((name, i) => (name ? [] : [`${secretPath(i)}: invalid empty name ""`])),
  ]
}

/** Warnings about a pod spec. `around` is its path in the object, undefined for a pod. */
export function podSpecWarnings(spec: PodSpec, meta: ObjectMeta | undefined, around: Path | undefined): string[] {
  const path = around?.child('spec') ?? Path.of('spec')
  const metaPath = around?.child('metadata') ?? Path.of('metadata')
  const annotations = meta?.annotations ?? {}
  const warnings: string[] = []
  if (spec.nodeSelector || spec.affinity?.nodeAffinity || spec.topologySpreadConstraints)
    warnings.push(...nodeLabelWarnings(spec, path))
  if (meta?.annotations) warnings.push(...annotationWarnings(annotations, spec, metaPath.child('annotations')))
  if (spec.volumes) warnings.push(...volumeWarnings(spec.volumes, path.child('volumes')))
  if (spec.hostAliases || spec.imagePullSecrets) warnings.push(...repetitionWarnings(spec, path))
  warnOfFractions(spec.overhead, () => path.child('overhead'), warnings)
  warnings.push(...containerWarnings(spec, annotations, path, metaPath, around !== undefined))
  warnings.push(...portWarnings(spec, path))
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(
      `${path.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
    )
  }
  if (spec.affinity) {
    warnings.push(...podAffinityWarnings(spec.affinity.podAffinity, path.child('affinity', 'podAffinity')))
    warnings.push(...podAffinityWarnings(spec.affinity.podAntiAffinity, path.child('affinity', 'podAntiAffinity')))
  }
  return warnings
}

/** Warnings about a new pod. */
export function podWarnings(pod: Pod): string[] {
  const problems = isDns1123Label(pod.metadata.name ?? '')
  const surprise =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended:"
  return [
    ...(problems.length ? [`${surprise} [${problems.join(' ')}]`] : []),
    ...podSpecWarnings(pod.spec, pod.metadata, undefined),
  ]
}
