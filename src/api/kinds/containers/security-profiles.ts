import type { AppArmorProfile, ObjectMeta, PodSpec, SeccompProfile } from '../../generated/types.ts'
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../validation/field-error.ts'
import { byteLength } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { visitContainers } from './visit-containers.ts'
import { validateDescendingPath } from './file-paths.ts'

export const seccompPodAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
export const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/'
export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']
const maxProfilePath = 4095

/** Validates a seccomp profile. */
export function validateSeccompProfile(profile: SeccompProfile, path: Path, errors: FieldError[]): void {
  if (!profile.type) errors.push(required(path.child('type'), 'type is required when seccompProfile is set'))
  else if (!profileTypes.includes(profile.type))
    errors.push(notSupported(path.child('type'), profile.type, profileTypes))
  const at = path.child('localhostProfile')
  if (profile.type === 'Localhost') {
    if (profile.localhostProfile === undefined) errors.push(required(at, 'must be set when seccomp type is Localhost'))
    else validateDescendingPath(profile.localhostProfile, at, errors)
  } else if (profile.localhostProfile !== undefined) {
    const internal = { Type: profile.type ?? '', LocalhostProfile: profile.localhostProfile }
    errors.push(invalid(at, internal, 'can only be set when seccomp type is Localhost'))
  }
}

/** Validates an AppArmor profile. */
export function validateAppArmorProfile(profile: AppArmorProfile, path: Path, errors: FieldError[]): void {
  const at = path.child('localhostProfile')
  const name = profile.localhostProfile
  if (profile.type === 'Localhost') {
    if (name === undefined || name === '') errors.push(required(at, 'must be set when AppArmor type is Localhost'))
    else if (name.trim() !== name) errors.push(invalid(at, name, 'must not be padded with whitespace'))
    if (name !== undefined && byteLength(name) > maxProfilePath) errors.push(tooLong(at, maxProfilePath))
  } else if (!profile.type) {
    errors.push(required(path.child('type'), 'type is required when appArmorProfile is set'))
  } else if (!profileTypes.includes(profile.type)) {
    errors.push(notSupported(path.child('type'), profile.type, profileTypes))
  } else if (name !== undefined) {
    errors.push(invalid(at, name, 'can only be set when AppArmor type is Localhost'))
  }
}

/** The profile of an AppArmor annotation; undefined if the value is unknown. */
export function appArmorFromAnnotation(value: string): AppArmorProfile | undefined {
  if (value === 'unconfined') return { type: 'Unconfined' }
  if (value === 'runtime/default') return { type: 'RuntimeDefault' }
  const name = value.startsWith('localhost/') ? value.slice('localhost/'.length) : ''
  return name === '' ? undefined : { type: 'Localhost', localhostProfile: name }
}

/** The difference between an annotation and the profile that it repeats; undefined if they agree. */
function disagreement(
  annotation: string,
  profile: AppArmorProfile | SeccompProfile,
  defaults: readonly string[],
): 'type' | 'localhostProfile' | undefined {
  if (profile.type === 'Unconfined') return annotation === 'unconfined' ? undefined : 'type'
  if (profile.type === 'RuntimeDefault') return defaults.includes(annotation) ? undefined : 'type'
  if (profile.type !== 'Localhost') return undefined
  if (!annotation.startsWith('localhost/')) return 'type'
  return annotation.slice('localhost/'.length) === profile.localhostProfile ? undefined : 'localhostProfile'
}

function compare(
  annotation: string | undefined,
  profile: AppArmorProfile | SeccompProfile | undefined,
  what: string,
  path: Path,
  errors: FieldError[],
): void {
  if (annotation === undefined || !profile) return
  const wrong = disagreement(
    annotation,
    profile,
    what === 'seccomp' ? ['runtime/default', 'docker/default'] : ['runtime/default'],
  )
  if (wrong === 'type') errors.push(forbidden(path.child('type'), `${what} type in annotation and field must match`))
  if (wrong === 'localhostProfile') {
    errors.push(forbidden(path.child('localhostProfile'), `${what} profile in annotation and field must match`))
  }
}

/** Deprecated annotations may repeat the fields, but must not contradict them. */
export function validateProfilesAgree(
  meta: ObjectMeta | undefined,
  spec: PodSpec,
  path: Path,
  errors: FieldError[],
): void {
  const annotations = meta?.annotations
  if (!annotations) return
  const pod = spec.securityContext
  compare(
    annotations[seccompPodAnnotation],
    pod?.seccompProfile,
    'seccomp',
    path.child('securityContext', 'seccompProfile'),
    errors,
  )
  visitContainers(spec, path, (container, at) => {
    const profile = container.securityContext?.seccompProfile
    compare(
      annotations[seccompContainerPrefix + container.name],
      profile,
      'seccomp',
      at.child('securityContext', 'seccompProfile'),
      errors,
    )
  })
  if (spec.os?.name === 'windows') return
  visitContainers(spec, path, (container, at) => {
    const profile = container.securityContext?.appArmorProfile ?? pod?.appArmorProfile
    compare(
      annotations[appArmorPrefix + container.name],
      profile,
      'apparmor',
      at.child('securityContext', 'appArmorProfile'),
      errors,
    )
  })
}
