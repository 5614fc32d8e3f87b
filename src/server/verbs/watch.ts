import { ApiError } from '../../api/errors.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { checkListOptions, wantsBookmarks } from './list-options.ts'
import { queryBoolean, queryInteger } from './options.ts'
import { askedVersion } from './too-new.ts'
import { selectionOf } from './selection.ts'

/** Kubernetes ends a watch that names no timeout after a random time between 30 and 60 minutes, so that clients spread out. */
const minWatchMs = 30 * 60_000

/** GET of a collection with watch=true: checks what is asked for; the stream itself is made by who sends it. */
export function watch(request: ResourceRequest): Result {
  const { server, target, query } = request
  const { prefix, matches } = selectionOf(request)
  const seconds = queryInteger(query, 'timeoutSeconds')
  checkListOptions(query, true)
  const asked = askedVersion(query, server.objects.revision, (message) => new ApiError(500, '', message))
  const sends = query.get('sendInitialEvents')
  const wantsInitial = sends === null ? asked === 0 : queryBoolean(query, 'sendInitialEvents')
  const bookmarks = wantsBookmarks(query)
  // Without a version and told not to send what is there, a watch starts now.
  const from = wantsInitial || asked === 0 ? server.objects.revision : asked
  return {
    kind: 'watch',
    target,
    watch: {
      prefix,
      matches,
      from,
      initial: !wantsInitial ? 'none' : sends !== null && bookmarks ? 'events and bookmark' : 'events',
      bookmarks,
      timeoutMs: seconds ? Number(seconds) * 1000 : minWatchMs * (1 + server.random.next()),
    },
  }
}
