import type { Container, EphemeralContainer, Volume, VolumeMount } from '../../generated/types.ts'
import {
  type FieldError,
  forbidden,
  invalid,
  notFoundField,
  notSupported,
  required,
} from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { containsBacksteps, validateDescendingPath } from '../containers/file-paths.ts'

type AnyContainer = Container | EphemeralContainer

const propagations = ['Bidirectional', 'HostToContainer', 'None']
const readOnlyKinds = ['Disabled', 'Enabled', 'IfPossible']

function validatePropagation(mode: string, container: AnyContainer, path: Path, errors: FieldError[]): void {
  if (!propagations.includes(mode)) errors.push(notSupported(path, mode, propagations))
  if (mode === 'Bidirectional' && !container.securityContext?.privileged) {
    errors.push(forbidden(path, 'Bidirectional mount propagation is available only to privileged containers'))
  }
}

function validateRecursiveReadOnly(mount: VolumeMount, path: Path, errors: FieldError[]): void {
  const mode = mount.recursiveReadOnly!
  if (!readOnlyKinds.includes(mode)) {
    errors.push(notSupported(path, mode, readOnlyKinds))
    return
  }
  if (mode === 'Disabled') return
  if (!mount.readOnly) errors.push(forbidden(path, 'may only be specified when readOnly is true'))
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'))
  }
}

/** Validates volume mounts. Kubernetes reports sub-paths and propagation at the list, without an index. */
export function validateVolumeMounts(
  container: AnyContainer,
  volumes: ReadonlyMap<string, Volume>,
  path: Path,
  errors: FieldError[],
): void {
  const mounts = container.volumeMounts!
  const devices = container.volumeDevices ?? []
  const seen = new Set<string>()
  for (let i = 0; i < mounts.length; i++) {
    const mount = mounts[i]!
    if (!mount.name) errors.push(required(path.index(i).child('name')))
    if (!volumes.has(mount.name)) errors.push(notFoundField(path.index(i).child('name'), mount.name ?? ''))
    if (!mount.mountPath) errors.push(required(path.index(i).child('mountPath')))
    if (seen.has(mount.mountPath))
      errors.push(invalid(path.index(i).child('mountPath'), mount.mountPath, 'must be unique'))
    seen.add(mount.mountPath)
    if (devices.some((device) => device.name === mount.name)) {
      errors.push(invalid(path.index(i).child('name'), mount.name, 'must not already exist in volumeDevices'))
    }
    if (devices.some((device) => device.devicePath === mount.mountPath)) {
      errors.push(
        invalid(path.index(i).child('mountPath'), mount.mountPath, 'must not already exist as a path in volumeDevices'),
      )
    }
    if (mount.subPath) validateDescendingPath(mount.subPath, path.child('subPath'), errors)
    if (mount.subPathExpr) {
      if (mount.subPath) {
        errors.push(
          invalid(
            path.index(i).child('subPathExpr'),
            mount.subPathExpr,
            'subPathExpr and subPath are mutually exclusive',
          ),
        )
      }
      validateDescendingPath(mount.subPathExpr, path.child('subPathExpr'), errors)
    }
    if (mount.mountPropagation !== undefined) {
      validatePropagation(mount.mountPropagation, container, path.child('mountPropagation'), errors)
    }
    if (mount.recursiveReadOnly !== undefined) validateRecursiveReadOnly(mount, path.child('recursiveReadOnly'), errors)
  }
}

/** Validates volume devices, which must be claims. */
export function validateVolumeDevices(
  container: AnyContainer,
  volumes: ReadonlyMap<string, Volume>,
  path: Path,
  errors: FieldError[],
): void {
  const mounts = container.volumeMounts ?? []
  const names = new Set<string>()
  const paths = new Set<string>()
  for (const [i, device] of container.volumeDevices!.entries()) {
    const at = path.index(i)
    const volume = volumes.get(device.name)
    if (!device.name) errors.push(required(at.child('name')))
    if (names.has(device.name)) errors.push(invalid(at.child('name'), device.name, 'must be unique'))
    if (!volume) errors.push(notFoundField(at.child('name'), device.name ?? ''))
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      errors.push(
        invalid(
          at.child('name'),
          device.name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      )
    }
    if (!device.devicePath) errors.push(required(at.child('devicePath')))
    if (paths.has(device.devicePath)) errors.push(invalid(at.child('devicePath'), device.devicePath, 'must be unique'))
    if (device.devicePath && containsBacksteps(device.devicePath)) {
      errors.push(invalid(at.child('devicePath'), device.devicePath, "can not contain backsteps ('..')"))
    } else {
      paths.add(device.devicePath)
    }
    if (mounts.some((mount) => mount.name === device.name)) {
      errors.push(invalid(at.child('name'), device.name, 'must not already exist in volumeMounts'))
    }
    if (mounts.some((mount) => mount.mountPath === device.devicePath)) {
      errors.push(
        invalid(at.child('devicePath'), device.devicePath, 'must not already exist as a path in volumeMounts'),
      )
    }
    if (device.name) names.add(device.name)
  }
}
