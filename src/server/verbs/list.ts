import { decodeContinue, encodeContinue } from '../../api/continue-token.ts'
import { badRequest, expired } from '../../api/errors.ts'
import { everySteps, shortSteps, stepsOfBytes } from '../../base/turns.ts'
import { CompactedError, FutureRevisionError } from '../../store/index.ts'
import type { ListMeta, ResourceRequest, Result } from '../requests/request.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import { askedVersion, checkListOptions, tooNew } from './list-options.ts'
import { queryInteger } from './options.ts'
import { shown } from './shown.ts'
import { type Selection, selectionOf } from './selection.ts'

const expiredContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an ' +
  'inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** The number of versions read from history at a time when a selector is set. */
const historyPage = 500

interface Page {
  items: StoredObject[]
  /** The last examined key, if there are more after it. */
  next: string | undefined
  /** The number of objects after it. Undefined with a selector. */
  remaining: number | undefined
}

/** GET of a collection. */
export async function list(request: ResourceRequest): Promise<Result> {
  const { server, target, query } = request
  const selection = selectionOf(request)
  const limit = Math.max(0, Number(queryInteger(query, 'limit') ?? 0))
  queryInteger(query, 'timeoutSeconds')
  checkListOptions(query, false)
  const refused = (message: string) => badRequest(`invalid resource version: ${message}`)
  const asked = askedVersion(query, server.objects.revision, refused)

  const token = query.get('continue')
  const start = token ? decodeContinue(token, selection.base) : undefined
  if (start && asked > 0) throw badRequest('specifying resource version is not allowed when using continue')
  const isExact = query.get('resourceVersionMatch') === 'Exact'
  // A continue token with revision -1 continues with current objects.
  const at = start
    ? start.revision < 0
      ? server.objects.revision
      : start.revision
    : isExact
      ? asked
      : server.objects.revision
  if (at > server.objects.revision) throw tooNew(at, server.objects.revision)
  // Current objects are copied in one turn, so the list is consistent however long its encoding takes.
  const page = await (at === server.objects.revision ? currentPage : pastPage)(
    request,
    selection,
    start?.after,
    limit,
    at,
  )
  const meta: ListMeta = { resourceVersion: String(at) }
  if (page.next !== undefined) {
    meta.continue = encodeContinue(at, page.next, selection.base)
    if (page.remaining !== undefined) meta.remainingItemCount = page.remaining
  }
  return { kind: 'list', target, items: page.items, meta }
}

async function currentPage(
  request: ResourceRequest,
  selection: Selection,
  after: string | undefined,
  limit: number,
): Promise<Page> {
  const { matches, prefix } = selection
  const cache = request.server.objects.cache(request.target)
  if (!matches) {
    const { values, behind } = cache.snapshot(prefix, after, limit || undefined)
    return { items: values, next: behind > 0 ? values.at(-1)!.key : undefined, remaining: behind }
  }
  const turns = everySteps(shortSteps, request.turns)
  const items: StoredObject[] = []
  for (const stored of await shown(request.target, cache.snapshot(prefix, after).values)) {
    if (limit > 0 && items.length === limit) return { items, next: items.at(-1)!.key, remaining: undefined }
    if (matches(stored)) items.push(stored)
    turns.add(stepsOfBytes(stored.roughSize))
    if (turns.isSpent) await turns.next()
  }
  return { items, next: undefined, remaining: undefined }
}

/** A page of an old revision, from the store's history. */
async function pastPage(
  request: ResourceRequest,
  selection: Selection,
  after: string | undefined,
  limit: number,
  revision: number,
): Promise<Page> {
  const { server, target } = request
  const { matches, prefix } = selection
  const turns = everySteps(shortSteps, request.turns)
  const items: StoredObject[] = []
  let from = after
  try {
    for (;;) {
      const read = await server.objects.rangeAt(
        target,
        prefix,
        revision,
        from,
        matches ? historyPage : limit || undefined,
      )
      const found = matches ? await shown(target, read.items) : read.items
      for (const [i, stored] of found.entries()) {
        turns.add(stepsOfBytes(stored.roughSize))
        if (turns.isSpent) await turns.next()
        from = stored.key
        if (matches && !matches(stored)) continue
        items.push(stored)
        const behind = read.items.length - 1 - i + read.remaining
        if (limit > 0 && items.length === limit && behind > 0)
          return { items, next: from, remaining: matches ? undefined : behind }
      }
      if (read.remaining === 0) return { items, next: undefined, remaining: undefined }
    }
  } catch (e) {
    if (e instanceof CompactedError) {
      if (after === undefined) throw expired(`The resourceVersion for the provided list is too old.`)
      throw expired(expiredContinue, { continue: encodeContinue(-1, after, selection.base), resourceVersion: '' })
    }
    if (e instanceof FutureRevisionError) throw tooNew(revision, e.current)
    throw e
  }
}
