import { createHash } from 'node:crypto'
import { methodNotAllowed, notFoundPath } from '../../api/errors.ts'
import { type DocumentAnswer, type DocumentRequest, answerWithTag } from '../http/answer/document.ts'
import type { Allowed } from '../http/answer/negotiate.ts'
import { document, groupsDocument, negotiate, unroutedDocument } from '../http/answer/negotiate.ts'
import { yamlText } from '../http/answer/yaml-text.ts'
import type { Group } from './documents.ts'
import { apiGroup, apiGroupDiscoveryList, apiGroupList, apiResourceList, apiVersions, groupsOf } from './documents.ts'
import type { Entry } from './entries.ts'
import { entriesByVersion } from './entries.ts'
import { type RemoteVersion, remoteEntries } from './remote-versions.ts'
import type { Served } from './served.ts'
import { groupVersion } from './served.ts'

interface Found {
  value: object
  /** Kubernetes serves /apis and /apis/apps before its router, which would check the method. */
  allowed: Allowed
}

/** Serves discovery documents for one set of resources. A change of the set creates a new instance. */
export class Discovery {
  readonly #serverAddress: string
  readonly #groups: Group[]
  readonly #entries: Map<string, Entry[]>
  /** Groups of custom resources. */
  readonly #customGroups: ReadonlySet<string>
  /** Group versions whose extension API server is unavailable. */
  readonly #stale: ReadonlySet<string>
  readonly #bytes = new Map<string, Buffer>()
  readonly #tags = new Map<string, string>()

  /** `remotes` are the group versions of extension API servers, with their resources. */
  constructor(served: Served, serverAddress: string, remotes: readonly RemoteVersion[] = []) {
    this.#serverAddress = serverAddress
    this.#groups = groupsOf(served, remotes)
    this.#entries = entriesByVersion(served)
    for (const remote of remotes) this.#entries.set(groupVersion(remote), remoteEntries(remote))
    this.#stale = new Set(remotes.filter(({ isAvailable }) => !isAvailable).map(groupVersion))
    this.#customGroups = new Set(served.resources.filter((resource) => resource.isCustom).map(({ group }) => group))
  }

  hasGroup(name: string): boolean {
    return this.#groups.some((g) => g.name === name)
  }

  /** Undefined for other paths and unknown groups. Throws 404 for an unknown version of a known group, 405 and 406. */
  async answer(request: DocumentRequest): Promise<DocumentAnswer | undefined> {
    const path = request.path.replace(/\/$/, '')
    if (path === '/api' || path === '/apis') {
      const aggregated = this.#aggregated(path, request)
      if (aggregated) return aggregated
    }
    const found = this.#find(path)
    if (!found) return undefined
    if (found.allowed.router && request.method !== 'GET') throw methodNotAllowed()
    const { format, contentType } = negotiate(request.accept, found.allowed)
    const key = `${format} ${path}`
    let body = this.#bytes.get(key)
    if (!body) {
      body = Buffer.from(format === 'yaml' ? await yamlText(found.value) : `${JSON.stringify(found.value)}\n`)
      this.#bytes.set(key, body)
    }
    return {
      code: 200,
      headers: { 'content-type': contentType, ...(path.split('/').length === 2 ? { vary: 'Accept' } : {}) },
      body,
    }
  }

  #find(path: string): Found | undefined {
    const [, root, ...rest] = path.split('/')
    if (root === 'apis') {
      const [name, version, ...more] = rest
      if (name === undefined) return { value: apiGroupList(this.#groups), allowed: unroutedDocument }
      const group = this.#groups.find((g) => g.name !== '' && g.name === name)
      if (!group || more.length) return undefined
      return version === undefined
        ? { value: apiGroup(group), allowed: unroutedDocument }
        : this.#resources(name, version)
    }
    if (root !== 'api' || rest.length > 1) return undefined
    const [version] = rest
    if (version !== undefined) return this.#resources('', version)
    return {
      value: apiVersions(
        this.#groups.find((g) => g.name === ''),
        this.#serverAddress,
      ),
      allowed: document,
    }
  }

  #resources(group: string, version: string): Found | undefined {
    const name = groupVersion({ group, version })
    const entries = this.#entries.get(name)
    if (!entries && this.#customGroups.has(group)) return undefined
    if (!entries) throw notFoundPath()
    return { value: apiResourceList(name, entries), allowed: document }
  }

  #aggregated(path: '/api' | '/apis', request: DocumentRequest): DocumentAnswer | undefined {
    if (!request.accept?.includes('APIGroupDiscoveryList')) return undefined
    const accepted = negotiate(request.accept, groupsDocument)
    if (!accepted.transform || accepted.format !== 'json') return undefined
    const key = `aggregated ${path}`
    let body = this.#bytes.get(key)
    if (!body) {
      const groups = this.#groups.filter((g) => (g.name === '') === (path === '/api'))
      body = Buffer.from(`${JSON.stringify(apiGroupDiscoveryList(groups, this.#entries, this.#stale))}\n`)
      this.#bytes.set(key, body)
      this.#tags.set(key, createHash('sha512').update(body).digest('hex').toUpperCase())
    }
    return answerWithTag(request, body, this.#tags.get(key)!, { 'content-type': accepted.contentType })
  }
}
