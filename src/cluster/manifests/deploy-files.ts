import { stringify } from 'yaml'
import {
  type ComponentName,
  type Manifest,
  type Settings,
  componentNames,
  componentObjects,
  definitions,
  monitoringObjects,
  namespaceObject,
  objectsOf,
  tcp,
  usualPorts,
} from './index.ts'

/** Formats objects as a YAML stream. */
export const yamlOf = (objects: readonly object[]): string =>
  objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')

/** Returns the output of `coxswain manifests`. */
export const manifestText = (...asked: Parameters<typeof objectsOf>): string => yamlOf(objectsOf(...asked))

const generated = '# Written by `npm run write:deploy`. Do not edit.\n'

const defaults = (version: string): Settings => ({
  namespace: 'coxswain-system',
  image: `coxswain:${version}`,
  replicas: () => 2,
})

/** Returns the files of deploy/ by path, with the version of the package. */
export const deployFiles = (version: string): Map<string, string> =>
  new Map([...kustomizeFiles(version), ...chartFiles(version)])

function kustomizeFiles(version: string): [string, string][] {
  const settings = defaults(version)
  const root = 'kustomize'
  const kustomization = (resources: string[]) =>
    `${generated}${stringify({ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources })}`
  const component = (name: ComponentName): [string, string][] => [
    [`${root}/${name}/kustomization.yaml`, kustomization([`${name}.yaml`])],
    [`${root}/${name}/${name}.yaml`, `${generated}${yamlOf(componentObjects(name, settings))}`],
  ]
  return [
    [`${root}/base/kustomization.yaml`, kustomization(['namespace.yaml', 'definitions.yaml', '../publisher'])],
    [`${root}/base/namespace.yaml`, `${generated}${yamlOf([namespaceObject(settings.namespace)])}`],
    [`${root}/base/definitions.yaml`, `${generated}${yamlOf(definitions())}`],
    ...componentNames.flatMap(component),
    [`${root}/service-monitors/kustomization.yaml`, kustomization(['service-monitors.yaml'])],
    [
      `${root}/service-monitors/service-monitors.yaml`,
      `${generated}${yamlOf(componentNames.flatMap((name) => monitoringObjects(name, settings)))}`,
    ],
  ]
}

function chartFiles(version: string): [string, string][] {
  const root = 'helm/coxswain'
  const settings: Settings = {
    namespace: '{{ .Release.Namespace }}',
    image: '{{ .Values.image }}',
    replicas: (component) => `{{ .Values.${component}.replicas }}`,
    apiServerPorts: '{{ .Values.apiServerPorts | toJson }}',
  }
  // Numbers and lists are written without quotes; strings keep theirs.
  const template = (objects: readonly Manifest[]) =>
    yamlOf(objects).replaceAll(/"(\{\{ \.Values\.(?:[a-z]+\.replicas|\w+ \| toJson) \}\})"/g, '$1')
  const when = (condition: string, text: string) => `{{- if ${condition} }}\n${text}{{- end }}\n`
  const values = {
    image: `coxswain:${version}`,
    apiServerPorts: tcp(usualPorts),
    definitions: { enabled: true },
    publisher: { enabled: true, replicas: 2 },
    monitor: { enabled: false },
    controllers: { enabled: false, replicas: 2 },
    serviceMonitors: { enabled: false },
  }
  const chart = {
    apiVersion: 'v2',
    name: 'coxswain',
    description: 'One life cycle for the workloads of a Kubernetes cluster',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.29.0-0',
  }
  return [
    [`${root}/Chart.yaml`, `${generated}${stringify(chart)}`],
    [`${root}/values.yaml`, `${generated}${stringify(values)}`],
    // Helm neither upgrades nor removes the contents of a folder `crds`.
    [`${root}/templates/definitions.yaml`, when('.Values.definitions.enabled', template(definitions()))],
    ...componentNames.map((name): [string, string] => [
      `${root}/templates/${name}.yaml`,
      when(`.Values.${name}.enabled`, template(componentObjects(name, settings))),
    ]),
    ...componentNames.map((name): [string, string] => [
      `${root}/templates/${name}-service-monitor.yaml`,
      when(`and .Values.${name}.enabled .Values.serviceMonitors.enabled`, template(monitoringObjects(name, settings))),
    ]),
  ]
}
