export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const group = 'example.com'
export const text = { type: 'string' }
export const int = { type: 'integer' }
export const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more })
const keyed = (key: string) => ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] })
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const port = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }
const rule = (...rules: object[]) => ({ 'x-kubernetes-validations': rules })

export const version = (name: string, spec: object, more: object = {}) => ({
  name, served: true, storage: false, subresources: { status: {} }, ...more,
  schema: { openAPIV3Schema: object({ spec, status: open }) },
})
export const definition = (kind: string, versions: object[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: { group, scope: 'Namespaced', names: { plural: `${kind.toLowerCase()}s`, kind }, versions },
})
export const pathOf = (kind: string, name = '') => `/apis/${group}/v1/namespaces/default/${kind.toLowerCase()}s${name && `/${name}`}`
export const instance = (kind: string, spec: unknown, name = 'a') => ({ apiVersion: `${group}/v1`, kind, metadata: { name }, spec })

/** A kind of a public project, by its shape. */
export interface Shape {
  kind: string
  spec: any
  right: object
  /** A wrong spec, and the field that is blamed. */
  wrong: [unknown, string][]
}

// The shapes of kinds that public projects bring.
const certificate: Shape = {
  kind: 'Certificate',
  spec: object({
    secretName: text, duration: text, dnsNames: list(text), isCA: { type: 'boolean' }, revisionHistoryLimit: { ...int, minimum: 1 },
    issuerRef: object({ name: text, kind: text }, { required: ['name'] }),
    privateKey: object({ algorithm: { ...text, enum: ['RSA', 'ECDSA'] }, size: int }),
    usages: list({ ...text, enum: ['server auth', 'client auth'] }),
  }, { required: ['secretName', 'issuerRef'] }),
  right: { secretName: 's', issuerRef: { name: 'i' }, usages: ['server auth'] },
  wrong: [
    [{ issuerRef: { name: 'i' } }, 'spec.secretName'], [{ secretName: 's' }, 'spec.issuerRef'],
    [{ secretName: 's', issuerRef: {} }, 'spec.issuerRef.name'], [{ secretName: 1, issuerRef: { name: 'i' } }, 'spec.secretName'],
    [{ secretName: 's', issuerRef: { name: 'i' }, usages: ['x'] }, 'spec.usages[0]'],
    [{ secretName: 's', issuerRef: { name: 'i' }, dnsNames: 'x' }, 'spec.dnsNames'],
    [{ secretName: 's', issuerRef: { name: 'i' }, dnsNames: ['a', 1] }, 'spec.dnsNames[1]'],
    [{ secretName: 's', issuerRef: { name: 'i' }, revisionHistoryLimit: 0 }, 'spec.revisionHistoryLimit'],
    [{ secretName: 's', issuerRef: { name: 'i' }, privateKey: { algorithm: 'DSA' } }, 'spec.privateKey.algorithm'],
    [{ secretName: 's', issuerRef: { name: 'i' }, isCA: 'yes' }, 'spec.isCA'],
  ],
}

const monitor: Shape = {
  kind: 'ServiceMonitor',
  spec: object({
    endpoints: list(object({
      port: text, targetPort: port, interval: { ...text, pattern: '^(0|(([0-9]+)(ms|s|m|h))+)$' }, scheme: { ...text, enum: ['http', 'https'] },
      params: { type: 'object', additionalProperties: list(text) },
      relabelings: list(object({ action: { ...text, default: 'replace' }, sourceLabels: list({ ...text, pattern: '^[a-zA-Z_]+$' }) })),
    })),
    selector: object({ matchLabels: { type: 'object', additionalProperties: text } }, { 'x-kubernetes-map-type': 'atomic' }),
    sampleLimit: { ...int, format: 'int64', minimum: 0 },
  }, { required: ['endpoints', 'selector'] }),
  right: { endpoints: [{ targetPort: 80 }, { targetPort: 'web', interval: '30s', relabelings: [{}] }], selector: {} },
  wrong: [
    [{ selector: {} }, 'spec.endpoints'], [{ endpoints: [] }, 'spec.selector'], [{ endpoints: {}, selector: {} }, 'spec.endpoints'],
    [{ endpoints: [{ targetPort: 1.5 }], selector: {} }, 'spec.endpoints[0].targetPort'],
    [{ endpoints: [{ interval: '30' }], selector: {} }, 'spec.endpoints[0].interval'],
    [{ endpoints: [{}, { scheme: 'ftp' }], selector: {} }, 'spec.endpoints[1].scheme'],
    [{ endpoints: [{ params: { a: 'x' } }], selector: {} }, 'spec.endpoints[0].params.a'],
    [{ endpoints: [{ relabelings: [{ sourceLabels: ['a b'] }] }], selector: {} }, 'spec.endpoints[0].relabelings[0].sourceLabels[0]'],
    [{ endpoints: [], selector: { matchLabels: { a: 1 } } }, 'spec.selector.matchLabels.a'],
    [{ endpoints: [], selector: {}, sampleLimit: -1 }, 'spec.sampleLimit'],
  ],
}

const application: Shape = {
  kind: 'Application',
  spec: object({
    project: text, destination: object({ server: text, name: text, namespace: text }, rule({ rule: '!has(self.server) || !has(self.name)', message: 'one of server and name' })),
    source: object({ repoURL: text, helm: object({ values: text, valuesObject: open, parameters: list(object({ name: text, value: text })) }) }, { required: ['repoURL'] }),
    syncPolicy: object({ retry: object({ limit: { ...int, format: 'int64' }, backoff: object({ factor: int, duration: text }) }), syncOptions: list(text) }),
  }, { required: ['project', 'destination', 'source'] }),
  right: { project: 'p', destination: { name: 'x' }, source: { repoURL: 'r', helm: { valuesObject: { any: [1, { x: null }] } } } },
  wrong: [
    [{}, 'spec.project'], [{ project: 'p', destination: {}, source: {} }, 'spec.source.repoURL'],
    [{ project: 'p', destination: { server: 's', name: 'n' }, source: { repoURL: 'r' } }, 'spec.destination'],
    [{ project: 'p', destination: [], source: { repoURL: 'r' } }, 'spec.destination'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r', helm: { values: {} } } }, 'spec.source.helm.values'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r', helm: { valuesObject: 'x' } } }, 'spec.source.helm.valuesObject'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r', helm: { parameters: [{ name: 1 }] } } }, 'spec.source.helm.parameters[0].name'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r' }, syncPolicy: { retry: { limit: '5' } } }, 'spec.syncPolicy.retry.limit'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r' }, syncPolicy: { retry: { backoff: { factor: 1.5 } } } }, 'spec.syncPolicy.retry.backoff.factor'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r' }, syncPolicy: { syncOptions: [true] } }, 'spec.syncPolicy.syncOptions[0]'],
  ],
}

const gateway: Shape = {
  kind: 'Gateway',
  spec: object({
    gatewayClassName: { ...text, minLength: 1, maxLength: 253 },
    listeners: list(object({
      name: { ...text, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }, port: { ...int, format: 'int32', minimum: 1, maximum: 65535 },
      protocol: { ...text, maxLength: 255 }, hostname: { ...text, maxLength: 253 },
    }, { required: ['name', 'port', 'protocol'], ...rule({ rule: "self.protocol != 'TCP' || !has(self.hostname)", message: 'no hostname for TCP' }) }), {
      ...keyed('name'), minItems: 1, maxItems: 4, ...rule({ rule: 'self.all(l, self.exists_one(m, m.port == l.port))', message: 'ports must be unique' }),
    }),
  }, { required: ['gatewayClassName', 'listeners'] }),
  right: { gatewayClassName: 'c', listeners: [{ name: 'a', port: 80, protocol: 'HTTP', hostname: 'x' }] },
  wrong: [
    [{ listeners: [{ name: 'a', port: 1, protocol: 'TCP' }] }, 'spec.gatewayClassName'], [{ gatewayClassName: '', listeners: [{ name: 'a', port: 1, protocol: 'TCP' }] }, 'spec.gatewayClassName'],
    [{ gatewayClassName: 'c', listeners: [] }, 'spec.listeners'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', protocol: 'TCP' }] }, 'spec.listeners[0].port'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 70000, protocol: 'TCP' }] }, 'spec.listeners[0].port'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'A', port: 1, protocol: 'TCP' }] }, 'spec.listeners[0].name'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 1, protocol: 'TCP', hostname: 'h' }] }, 'spec.listeners[0]'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 1, protocol: 'X' }, { name: 'a', port: 2, protocol: 'X' }] }, 'spec.listeners[1]'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 1, protocol: 'X' }, { name: 'b', port: 1, protocol: 'X' }] }, 'spec.listeners'],
    [{ gatewayClassName: 'c', listeners: 'x' }, 'spec.listeners'],
  ],
}

const pool: Shape = {
  kind: 'IPAddressPool',
  spec: object({
    addresses: list(text), autoAssign: { type: 'boolean', default: true }, priority: int,
    serviceAllocation: object({ namespaces: list(text), weight: { type: 'number' }, selectors: list(object({ key: text, values: list(text) }, { required: ['key'] })) }),
  }, { required: ['addresses'] }),
  right: { addresses: ['10.0.0.0/24'] },
  wrong: [
    [{}, 'spec.addresses'], ['x', 'spec'], [[], 'spec'], [{ addresses: [1] }, 'spec.addresses[0]'], [{ addresses: [], autoAssign: 1 }, 'spec.autoAssign'],
    [{ addresses: [], priority: 'x' }, 'spec.priority'], [{ addresses: [], serviceAllocation: [] }, 'spec.serviceAllocation'],
    [{ addresses: [], serviceAllocation: { weight: 'x' } }, 'spec.serviceAllocation.weight'],
    [{ addresses: [], serviceAllocation: { selectors: [{}] } }, 'spec.serviceAllocation.selectors[0].key'],
    [{ addresses: [], serviceAllocation: { selectors: [{ key: 'k', values: [null, 2] }] } }, 'spec.serviceAllocation.selectors[0].values[0]'],
  ],
}

const scaler: Shape = {
  kind: 'ScaledObject',
  spec: object({
    minReplicaCount: { ...int, format: 'int32' }, maxReplicaCount: { ...int, format: 'int32' }, template: { ...open, 'x-kubernetes-embedded-resource': true },
    triggers: list(object({ type: text, metadata: { type: 'object', additionalProperties: text } }, { required: ['type', 'metadata'] })),
    mode: { ...text, oneOf: [{ pattern: '^a' }, { pattern: 'z$' }] },
  }, { required: ['triggers'], ...rule({ rule: '!has(self.minReplicaCount) || !has(self.maxReplicaCount) || self.minReplicaCount <= self.maxReplicaCount', message: 'min above max', fieldPath: '.minReplicaCount' }) }),
  right: { triggers: [{ type: 't', metadata: { a: 'b' } }], template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} } },
  wrong: [
    [{}, 'spec.triggers'], [{ triggers: [{ type: 't' }] }, 'spec.triggers[0].metadata'], [{ triggers: [{ type: 't', metadata: { a: 1 } }] }, 'spec.triggers[0].metadata.a'],
    [{ triggers: [], minReplicaCount: 3, maxReplicaCount: 2 }, 'spec.minReplicaCount'], [{ triggers: [], maxReplicaCount: true }, 'spec.maxReplicaCount'],
    [{ triggers: [], template: {} }, 'spec.template.apiVersion'], [{ triggers: [], template: 'x' }, 'spec.template'], [{ triggers: [null, 1] }, 'spec.triggers[0]'],
    [{ triggers: [], template: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'a b': 'x' } } } }, 'spec.template.metadata.labels'],
    [{ triggers: [], minReplicaCount: '1' }, 'spec.minReplicaCount'],
  ],
}

// Rules that look across rules, matches and filters, as Gateway API has them.
const route: Shape = {
  kind: 'HTTPRoute',
  spec: object({
    hostnames: list({ ...text, minLength: 1, maxLength: 253, pattern: '^(\\*\\.)?[a-z0-9.-]+$' }, { maxItems: 16 }),
    parentRefs: list(object({ name: { ...text, minLength: 1, maxLength: 253 }, sectionName: { ...text, maxLength: 253 }, port: { ...int, format: 'int32', minimum: 1, maximum: 65535 } }, { required: ['name'] }), {
      maxItems: 32,
      ...rule({
        rule: "self.all(p1, self.exists_one(p2, p1.name == p2.name && (!has(p1.sectionName) || !has(p2.sectionName) || p1.sectionName == p2.sectionName)))",
        message: 'sectionName must be unique when parentRefs includes 2 or more references to the same parent',
      }),
    }),
    rules: list(object({
      matches: list(object({
        path: object({ type: { ...text, enum: ['Exact', 'PathPrefix', 'RegularExpression'], default: 'PathPrefix' }, value: { ...text, maxLength: 1024, default: '/' } }, rule(
          { rule: "!(self.type in ['Exact', 'PathPrefix']) || self.value.startsWith('/')", message: "value must be an absolute path and start with '/'" },
          { rule: "self.type != 'Exact' || !self.value.contains('//')", messageExpression: "'must not contain // in ' + self.value", fieldPath: '.value' },
        )),
        headers: list(object({ name: { ...text, minLength: 1, maxLength: 256 }, value: { ...text, maxLength: 4096 } }, { required: ['name', 'value'] }), { ...keyed('name'), maxItems: 16 }),
      }), { maxItems: 8, default: [{ path: { type: 'PathPrefix', value: '/' } }] }),
      timeouts: object({ request: { ...text, maxLength: 16, pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$' }, backendRequest: { ...text, maxLength: 16, pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$' } }, rule({
        rule: "!(has(self.request) && has(self.backendRequest) && duration(self.request) != duration('0s') && duration(self.backendRequest) > duration(self.request))",
        message: 'backendRequest timeout cannot be longer than request timeout',
      })),
      backendRefs: list(object({ name: { ...text, maxLength: 253 }, port: { ...int, format: 'int32', minimum: 1, maximum: 65535 }, weight: { ...int, format: 'int32', minimum: 0, maximum: 1000000, default: 1 } }, { required: ['name'] }), { maxItems: 16 }),
    }), { minItems: 1, maxItems: 16 }),
  }, { required: ['rules'] }),
  right: { parentRefs: [{ name: 'g' }], rules: [{ backendRefs: [{ name: 'b', port: 80 }], timeouts: { request: '10s', backendRequest: '2s' } }] },
  wrong: [
    [{}, 'spec.rules'], [{ rules: [] }, 'spec.rules'], [{ rules: [{}], hostnames: ['A B'] }, 'spec.hostnames[0]'],
    [{ rules: [{ matches: [{ path: { value: 'x' } }] }] }, 'spec.rules[0].matches[0].path'],
    [{ rules: [{ matches: [{ path: { type: 'Exact', value: '//' } }] }] }, 'spec.rules[0].matches[0].path.value'],
    [{ rules: [{ matches: [{ path: { type: 'Glob' } }] }] }, 'spec.rules[0].matches[0].path.type'],
    [{ rules: [{ matches: [{ headers: [{ name: 'a', value: 'b' }, { name: 'a', value: 'c' }] }] }] }, 'spec.rules[0].matches[0].headers[1]'],
    [{ rules: [{ timeouts: { request: '1s', backendRequest: '1m' } }] }, 'spec.rules[0].timeouts'],
    [{ rules: [{ backendRefs: [{ name: 'b', weight: -1 }] }] }, 'spec.rules[0].backendRefs[0].weight'],
    [{ rules: [{}], parentRefs: [{ name: 'g' }, { name: 'g' }] }, 'spec.parentRefs'],
  ],
}

// One of several, and maps of anything, as Istio has them.
const virtualService: Shape = {
  kind: 'VirtualService',
  spec: object({
    hosts: list(text), gateways: list(text), exportTo: list(text, { 'x-kubernetes-list-type': 'set' }),
    http: list(object({
      name: text,
      match: list(object({
        uri: object({ exact: text, prefix: text, regex: text }, { oneOf: [{ not: { anyOf: [{ required: ['exact'] }, { required: ['prefix'] }, { required: ['regex'] }] } }, { required: ['exact'] }, { required: ['prefix'] }, { required: ['regex'] }] }),
        headers: { type: 'object', additionalProperties: object({ exact: text }) }, port: { ...int, maximum: 4294967295, minimum: 0 },
      })),
      route: list(object({ destination: object({ host: text, subset: text, port: object({ number: { ...int, maximum: 65535 } }) }, { required: ['host'] }), weight: { ...int, format: 'int32' } }, { required: ['destination'] })),
      fault: object({ delay: object({ percentage: object({ value: { type: 'number', format: 'double' } }), fixedDelay: { ...text, ...rule({ rule: "duration(self) >= duration('1ms')", message: 'must be a valid duration greater than 1ms' }), maxLength: 32 } }, { required: ['fixedDelay'] }) }),
      mirrorPercent: { ...int, nullable: true },
    })),
  }),
  right: { hosts: ['h'], exportTo: ['.'], http: [{ match: [{ uri: { prefix: '/' }, headers: { end: { exact: 'x' } } }], route: [{ destination: { host: 'h' }, weight: 100 }], mirrorPercent: null }] },
  wrong: [
    [{ hosts: 'h' }, 'spec.hosts'], [{ exportTo: ['.', '.'] }, 'spec.exportTo[1]'], [{ http: {} }, 'spec.http'], [{ http: [{ route: [{}] }] }, 'spec.http[0].route[0].destination'],
    [{ http: [{ match: [{ uri: { prefix: '/', exact: '/' } }] }] }, 'spec.http[0].match[0].uri'],
    [{ http: [{ match: [{ headers: { end: { exact: 1 } } }] }] }, 'spec.http[0].match[0].headers.end.exact'],
    [{ http: [{ match: [{ port: -1 }] }] }, 'spec.http[0].match[0].port'],
    [{ http: [{ route: [{ destination: { host: 'h', port: { number: 70000 } } }] }] }, 'spec.http[0].route[0].destination.port.number'],
    [{ http: [{ fault: { delay: { fixedDelay: '1us' } } }] }, 'spec.http[0].fault.delay.fixedDelay'],
    [{ http: [{ fault: { delay: { fixedDelay: '1s', percentage: { value: 'x' } } } }] }, 'spec.http[0].fault.delay.percentage.value'],
  ],
}

export const publicKinds: readonly Shape[] = [certificate, monitor, application, gateway, pool, scaler, route, virtualService]
