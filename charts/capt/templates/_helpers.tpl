{{- define "capt.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "capt.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "capt.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "capt.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Roles of the cluster are told apart by the namespace, too: their names are not in one. */}}
{{- define "capt.globalName" -}}
{{- printf "%s-%s" .Release.Namespace (include "capt.fullname" .) -}}
{{- end -}}

{{- define "capt.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (printf "%s-manager" (include "capt.fullname" .)) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name: write the name of the ServiceAccount, or set serviceAccount.create to true" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "capt.selector" -}}
app.kubernetes.io/name: {{ include "capt.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "capt.labels" -}}
{{ include "capt.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "capt.image" -}}
{{- $repository := required "image.repository: write where the image is" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The seconds of a time such as 90s, 15m or 6h, which is what the schema lets through. */}}
{{- define "capt.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int -}}
{{- $unit := regexFind "[smh]$" . -}}
{{- mul $number (get (dict "s" 1 "m" 60 "h" 3600) $unit) -}}
{{- end -}}

{{/* Values that make sense each by itself and not together. */}}
{{- define "capt.check" -}}
{{- $cache := .Values.terraform.pluginCache -}}
{{- $shared := has "ReadWriteMany" $cache.accessModes -}}
{{- if and (gt (int .Values.replicas) 1) $cache.persistent (not $cache.existingClaim) (not $shared) -}}
{{- fail "terraform.pluginCache.accessModes: with more than one replica write [ReadWriteMany], or set replicas to 1" -}}
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) .Values.terraform.work.existingClaim -}}
{{- fail "terraform.work.existingClaim: managers must not share their working directories; set replicas to 1" -}}
{{- end -}}
{{- if and $cache.existingClaim (not $cache.persistent) -}}
{{- fail "terraform.pluginCache.existingClaim: it is used only with terraform.pluginCache.persistent: true" -}}
{{- end -}}
{{- if and .Values.addonWebhook.signingKey (not .Values.addonWebhook.existingSecret) -}}
{{- fail "addonWebhook.signingKey: write the Secret that has it into addonWebhook.existingSecret" -}}
{{- end -}}
{{- if and (or .Values.networkPolicy.metricsFrom .Values.networkPolicy.egress) (not .Values.networkPolicy.enabled) -}}
{{- fail "networkPolicy.enabled: set it to true, or nothing comes of metricsFrom and egress" -}}
{{- end -}}
{{- $set := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" -}}
{{- $labels := dict
      "commonLabels" .Values.commonLabels
      "podLabels" .Values.podLabels
      "metrics.serviceMonitor.labels" .Values.metrics.serviceMonitor.labels
      "metrics.rules.labels" .Values.metrics.rules.labels
      "metrics.dashboard.labels" .Values.metrics.dashboard.labels -}}
{{- range $value, $keys := $labels -}}
{{- range $key, $_ := $keys -}}
{{- if has $key $set -}}
{{- fail (printf "%s: %s is set by the chart; take another label" $value $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $own := list "POD_NAMESPACE" "HOME" "CAPT_ADDON_WEBHOOK" -}}
{{- range .Values.env -}}
{{- if has .name $own -}}
{{- fail (printf "env: %s is set by the chart" .name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.service.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled: it needs the Service; set metrics.service.enabled to true" -}}
{{- end -}}
{{- end -}}
