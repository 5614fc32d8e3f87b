import type { Container, Pod } from '../../../api/generated/types.ts'
import { ConfigError } from '../../env/environment.ts'
import { isPodUser } from '../../runtime/pod-users.ts'
import type { ContainerConfig } from '../../runtime/runtime.ts'

type ContainerUser = Pick<ContainerConfig, 'user' | 'noNewPrivileges'>

/**
 * The user of a container's processes. If each pod has its own user id, root in an unprivileged container becomes that
 * user, as in a user namespace. Other user ids are used as they are.
 */
export function containerUser(pod: Pod, spec: Container, podUser: number | undefined): ContainerUser {
  const context = { ...pod.spec.securityContext, ...spec.securityContext }
  const { supplementalGroups = [], fsGroup } = pod.spec.securityContext ?? {}
  const uid = context.runAsUser === undefined ? undefined : Number(context.runAsUser)
  const gid = context.runAsGroup === undefined ? undefined : Number(context.runAsGroup)
  const groups = [...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])].map(Number)
  const foreign = [uid, gid, ...groups].find((id) => id !== undefined && isPodUser(id) && id !== podUser)
  if (podUser !== undefined && foreign !== undefined)
    throw new ConfigError(`container's user or group ${foreign} is one that the node gives to other pods`)
  if (podUser === undefined || spec.securityContext?.privileged === true) {
    return {
      user: {
        ...(uid === undefined ? {} : { uid }),
        ...(gid === undefined ? {} : { gid }),
        supplementalGroups: groups,
      },
      noNewPrivileges: false,
    }
  }
  // The root group is the node's own, too.
  return {
    user: { uid: uid || podUser, gid: gid || podUser, supplementalGroups: groups.filter((group) => group !== 0) },
    noNewPrivileges: true,
  }
}
