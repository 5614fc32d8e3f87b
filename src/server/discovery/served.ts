import type { Resource } from '../resource.ts'
import type { Action } from '../subresources/action.ts'

/** A kind that is answered but never stored: the reviews, and bindings by the collection. */
export interface VirtualKind {
  group: string
  version: string
  kind: string
  plural: string
  namespaced: boolean
  /** Default: create. */
  verbs?: readonly string[]
}

/** Everything that discovery and OpenAPI tell of. */
export interface Served {
  resources: readonly Resource[]
  actions: readonly Action[]
  virtual: readonly VirtualKind[]
}

/** The virtual kinds of Kubernetes. */
export const reviewKinds: readonly VirtualKind[] = [
  { group: '', version: 'v1', kind: 'Binding', plural: 'bindings', namespaced: true },
  { group: 'authentication.k8s.io', version: 'v1', kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', namespaced: false },
  { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview', plural: 'tokenreviews', namespaced: false },
  { group: 'authorization.k8s.io', version: 'v1', kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews', namespaced: true },
  { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', namespaced: false },
  { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', namespaced: false },
  { group: 'authorization.k8s.io', version: 'v1', kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', namespaced: false },
]

/** `v1`, `apps/v1` */
export const groupVersion = (of: { group: string; version: string }) => (of.group ? `${of.group}/${of.version}` : of.version)
