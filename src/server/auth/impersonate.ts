import { setKey } from '../../api/json/index.ts'
import { ApiError } from '../../api/errors.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { ResourceAttempt } from './authorize.ts'

const authenticated = 'system:authenticated'
const unauthenticated = 'system:unauthenticated'
const anonymousName = 'system:anonymous'

/** The impersonated user, and the permissions that impersonation requires. */
interface Impersonation {
  user: UserInfo
  attempts: readonly ResourceAttempt[]
}

/** Returns the user that the Impersonate headers name, or else the authenticated user. */
export function impersonated(
  sender: UserInfo,
  header: (name: string) => string | undefined,
  extraNames: readonly string[],
): Impersonation {
  const name = header('impersonate-user')
  const group = header('impersonate-group')
  const uid = header('impersonate-uid')
  if (name === undefined && group === undefined && uid === undefined && extraNames.length === 0)
    return { user: sender, attempts: [] }
  const groups = splitList(group)
  const extra: Record<string, string[]> = {}
  for (const key of extraNames) setKey(extra, unescaped(key.slice(extraPrefix.length)), splitList(header(key)))
  if (!name) {
    if (groups.length || uid || Object.keys(extra).length)
      throw new ApiError(500, 'InternalError', 'requested groups, uid or extra without impersonating a user')
    return { user: sender, attempts: [] }
  }
  const attempts = [
    asUser(name),
    ...groups.map((text) => impersonation('', 'v1', 'groups', text)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => impersonation(authentication, 'v1', 'userextras', value, key)),
    ),
    ...(uid ? [impersonation(authentication, 'v1', 'uids', uid)] : []),
  ]
  return {
    user: {
      name,
      ...(uid ? { uid } : {}),
      groups: groupsOf(name, groups),
      ...(Object.keys(extra).length ? { extra } : {}),
    },
    attempts,
  }
}

const authentication = 'authentication.k8s.io'

const impersonation = (
  group: string,
  version: string,
  plural: string,
  name: string,
  subresource = '',
  namespace = '',
): ResourceAttempt => ({
  verb: 'impersonate',
  path: { group, version, namespace, plural, subresource, name },
})

function accountOf(user: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(user)
  return match ? { namespace: match[1]!, name: match[2]! } : undefined
}

function asUser(name: string): ResourceAttempt {
  const account = accountOf(name)
  return account
    ? impersonation('', 'v1', 'serviceaccounts', account.name, '', account.namespace)
    : impersonation('', 'v1', 'users', name)
}

/** The requested groups, with those that every user of this kind is in. */
function groupsOf(name: string, asked: readonly string[]): string[] {
  const account = accountOf(name)
  const groups =
    asked.length === 0 && account
      ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
      : [...asked]
  if (name === anonymousName) return groups.includes(unauthenticated) ? groups : [...groups, unauthenticated]
  return groups.includes(authenticated) || groups.includes(unauthenticated) ? groups : [...groups, authenticated]
}

/** Decodes the percent-encoded key of an extra field. As in Kubernetes, an invalid encoding is kept as is. */
function unescaped(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** The prefix of headers for extra fields, followed by the field's key. */
export const extraPrefix = 'impersonate-extra-'

const splitList = (text: string | undefined): string[] =>
  text
    ? text
        .split(',')
        .map((t) => t.trim())
        .filter((t) => t !== '')
    : []
