import { createHash } from 'node:crypto'
import { ApiError, methodNotAllowed } from '../../api/errors.ts'
import { docsText } from '../../api/generated/docs.ts'
import { groupsOf } from '../discovery/documents.ts'
import { entriesByVersion } from '../discovery/entries.ts'
import type { Served } from '../discovery/served.ts'
import type { RemoteVersion } from '../discovery/remote-versions.ts'
import { groupVersion } from '../discovery/served.ts'
import { type DocumentAnswer, type DocumentRequest, answerWithTag } from '../http/answer/document.ts'
import { swaggerProtobuf } from './swagger-protobuf.ts'
import { v2Document } from './v2.ts'
import { v3Document } from './v3.ts'

const json = 'application/json'
const v2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** The media type that Go clients request. It is not valid, so the response has a different one. */
const v2ProtobufAsked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
/** A document that is requested by its hash never changes. */
const forever = { 'cache-control': 'public, immutable, max-age=31536000' }

const pathOf = (version: string) => (version.includes('/') ? `apis/${version}` : `api/${version}`)

function sha512(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash.digest('hex').toUpperCase()
}

/** The client's preferred media type. */
function choose(accept: string | undefined, types: readonly string[]): string | undefined {
  if (!accept) return types[0]
  const clauses = accept.split(',').map((text, at) => {
    const [name = '', ...params] = text.split(';').map((part) => part.trim())
    const q = params.find((p) => p.startsWith('q='))
    return { name, q: q ? Number.parseFloat(q.slice(2)) || 0 : 1, at }
  })
  for (const { name } of clauses.sort((a, b) => b.q - a.q || a.at - b.at)) {
    if (name === '*/*' || name === 'application/*') return types[0]
    if (types.includes(name)) return name
  }
  return undefined
}

/** Serves /openapi/v3 and /openapi/v2 for one set of resources. Documents are generated on first access. */
export class OpenApi {
  readonly #served: Served
  readonly #serverVersion: string
  readonly #versions: string[]
  readonly #bodies = new Map<string, Buffer>()
  #hashes: Map<string, string> | undefined

  /** Group versions whose documents extension API servers provide. */
  readonly #remotes: readonly RemoteVersion[]

  constructor(served: Served, serverVersion: string, remotes: readonly RemoteVersion[] = []) {
    this.#remotes = remotes
    this.#served = served
    this.#serverVersion = serverVersion
    this.#versions = groupsOf(served).flatMap((g) =>
      g.versions.map((version) => groupVersion({ group: g.name, version })),
    )
  }

  /** Undefined for an unknown document; throws 405 and 406. */
  answer(request: DocumentRequest): DocumentAnswer | undefined {
    const path = request.path.replace(/\/$/, '')
    if (path !== '/openapi/v2' && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) return undefined
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
    if (path === '/openapi/v2') return this.#v2(request)
    const type = choose(request.accept, [json])
    if (!type) throw new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${json}`)
    if (path === '/openapi/v3') return this.#index(request)
    return this.#v3(request, path.slice('/openapi/v3/'.length))
  }

  /** The hash covers the inputs of a document, so it is known before the document is generated. */
  #hashOf(version: string): string {
    if (!this.#hashes) {
      const base = sha512(this.#serverVersion, docsText, JSON.stringify(this.#served.schema))
      const entries = entriesByVersion(this.#served)
      this.#hashes = new Map(
        this.#versions.map((v) => [v, sha512(base, v, JSON.stringify(entries.get(v)), this.#schemasOf(v))]),
      )
    }
    return this.#hashes.get(version)!
  }

  /** Identifies the schemas of a version's custom resources, since hashing them would take too long. */
  #schemasOf(version: string): string {
    return this.#served.resources
      .filter((r) => r.isCustom && groupVersion(r) === version)
      .map((r) => `${r.type} ${r.schemaTag}`)
      .join()
  }

  #index(request: DocumentRequest): DocumentAnswer {
    const url = (version: string) => ({
      serverRelativeURL: `/openapi/v3/${pathOf(version)}?hash=${this.#hashOf(version)}`,
    })
    const own = this.#versions.map((v) => [pathOf(v), url(v)])
    const remote = this.#remotes
      .filter(({ isAvailable }) => isAvailable)
      .map((of) => {
        const path = pathOf(groupVersion(of))
        return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${sha512(JSON.stringify(of.resources))}` }]
      })
    const body = Buffer.from(JSON.stringify({ paths: Object.fromEntries([...own, ...remote]) }))
    return answerWithTag(request, body, sha512(body), { 'content-type': json })
  }

  #v3(request: DocumentRequest, path: string): DocumentAnswer | undefined {
    const version = this.#versions.find((v) => pathOf(v) === path)
    if (!version) return undefined
    const hash = this.#hashOf(version)
    const asked = request.query?.get('hash')
    if (asked && asked !== hash) {
      return { code: 301, headers: { location: `/openapi/v3/${path}?hash=${hash}` }, body: Buffer.alloc(0) }
    }
    const make = () => Buffer.from(JSON.stringify(v3Document(this.#served, version, this.#serverVersion)))
    return answerWithTag(request, this.#body(`v3 ${version}`, make), hash, {
      'content-type': json,
      ...(asked ? forever : undefined),
    })
  }

  #v2(request: DocumentRequest): DocumentAnswer {
    const type = choose(request.accept, [json, v2ProtobufAsked, v2Protobuf])
    if (!type)
      throw new ApiError(
        406,
        'NotAcceptable',
        `only the following media types are accepted: ${json}, ${v2ProtobufAsked}`,
      )
    const isJson = type === json
    const make = () => {
      const document = v2Document(this.#served, this.#serverVersion)
      return isJson ? Buffer.from(JSON.stringify(document)) : swaggerProtobuf(document)
    }
    const body = this.#body(isJson ? 'v2 json' : 'v2 protobuf', make)
    const etag = sha512(...this.#versions.map((v) => this.#hashOf(v)), isJson ? json : v2Protobuf)
    return answerWithTag(request, body, etag, { 'content-type': isJson ? json : v2Protobuf })
  }

  #body(key: string, make: () => Buffer): Buffer {
    let body = this.#bodies.get(key)
    if (!body) this.#bodies.set(key, (body = make()))
    return body
  }
}
