{{- /* The image of a part: (list $ "bridge"). One without a tag is of the chart's version. */}}
{{- define "drover.image" -}}
{{- $images := (index . 0).Values.images -}}
{{- $image := index $images (index . 1) -}}
{{- with $images.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image }}
{{- if not (regexMatch "[:@][^/]*$" $image) }}:{{ (index . 0).Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* What the Pods of all parts have, and of Valkey: (list $ "bridge"). */}}
{{- define "drover.pod" -}}
{{- $values := (index . 0).Values -}}
# A Service called drover-... would be taken for a setting that is misspelt.
enableServiceLinks: false
{{- with $values.images.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { drover.dev/component: {{ index . 1 }} } }
{{- end }}

{{- define "drover.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* The address of Redis without a user. */}}
{{- define "drover.redisUrl" -}}
{{- if and (not .Values.valkey.enabled) (eq .Values.redis.url "") }}
{{- fail "Without valkey.enabled, give the address of your Redis in redis.url, such as rediss://redis.example.com:6379" }}
{{- end }}
{{- default (printf "rediss://valkey.%s:6379" .Release.Namespace) .Values.redis.url }}
{{- end }}
