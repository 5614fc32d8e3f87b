import { ApiError } from '../../api/errors.ts'
import { setKey } from '../../api/json/index.ts'
import type { UserInfo } from '../objects/objects.ts'

const authenticated = 'system:authenticated'

/** Who a request is to be taken as: the one it names in its Impersonate headers, or the one who sends it. */
export function impersonated(sender: UserInfo, header: (name: string) => string | undefined, extraNames: readonly string[]): UserInfo {
  const name = header('impersonate-user')
  const group = header('impersonate-group')
  const uid = header('impersonate-uid')
  if (name === undefined && group === undefined && uid === undefined && extraNames.length === 0) return sender
  const groups = splitList(group)
  const extra: Record<string, string[]> = {}
  for (const key of extraNames) setKey(extra, unescaped(key.slice(extraPrefix.length)), splitList(header(key)))
  if (!name) {
    if (groups.length || uid || Object.keys(extra).length) throw new ApiError(500, 'InternalError', 'requested groups, uid or extra without impersonating a user')
    return sender
  }
  const all = groups.includes(authenticated) || name === 'system:anonymous' ? groups : [...groups, authenticated]
  return { name, ...(uid ? { uid } : {}), groups: all, ...(Object.keys(extra).length ? { extra } : {}) }
}

/** The name of something extra as it was before it became a header. Kubernetes takes one that cannot be unescaped as it stands. */
function unescaped(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** How the headers begin whose rest is the name of something extra. */
export const extraPrefix = 'impersonate-extra-'

const splitList = (text: string | undefined): string[] => (text ? text.split(',').map((t) => t.trim()).filter((t) => t !== '') : [])
