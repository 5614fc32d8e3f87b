import { ApiError } from '../../api/errors.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { askedVersion, checkListOptions, wantsBookmarks } from './list-options.ts'
import { queryBoolean, queryInteger } from './options.ts'
import { selectionOf } from './selection.ts'

/**
 * Without a timeout, a watch ends after a random time between 30 and 60 minutes, as in Kubernetes, which spreads
 * reconnects.
 */
const minWatchMs = 30 * 60_000

/** GET of a collection with watch=true. Validates the parameters; the caller runs the stream. */
export function watch(request: ResourceRequest): Result {
  const { server, target, query } = request
  const { prefix, matches, wanted } = selectionOf(request)
  const seconds = queryInteger(query, 'timeoutSeconds')
  checkListOptions(query, true)
  const asked = askedVersion(query, server.objects.revision, (message) => new ApiError(500, '', message))
  const sends = query.get('sendInitialEvents')
  const wantsInitial = sends === null ? asked === 0 : queryBoolean(query, 'sendInitialEvents')
  const bookmarks = wantsBookmarks(query)
  // A watch without a version and without initial events starts now.
  const from = wantsInitial || asked === 0 ? server.objects.revision : asked
  return {
    kind: 'watch',
    target,
    watch: {
      prefix,
      matches,
      wanted,
      from,
      initial: !wantsInitial ? 'none' : sends !== null && bookmarks ? 'events and bookmark' : 'events',
      bookmarks,
      timeoutMs: seconds ? Number(seconds) * 1000 : minWatchMs * (1 + server.random.next()),
    },
  }
}
