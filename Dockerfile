# docker build --tag causeway .     EXTRAS: what else it can do, as in pyproject.toml
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
ARG EXTRAS=docx,google,ollama,otel,redis,s3
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY graphrag graphrag
COPY agent agent
COPY api api
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv /opt/causeway \
    && /opt/causeway/bin/pip install --disable-pip-version-check --constraint constraints.txt ".[${EXTRAS}]"

FROM python:${PYTHON}
LABEL org.opencontainers.image.title="Causeway" \
      org.opencontainers.image.description="Answers questions over your own documents, with citations that were checked" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin causeway \
    && install --directory --owner=causeway --group=causeway --mode=0700 /data
COPY --from=build /opt/causeway /opt/causeway
ENV PATH=/opt/causeway/bin:$PATH \
    CAUSEWAY_HOME=/data \
    HOME=/data \
    PYTHONDONTWRITEBYTECODE=1
# By number: Kubernetes' runAsNonRoot knows no names.
USER 10001:10001
WORKDIR /data
# All that is written; the rest, but for /tmp, may be read-only.
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["causeway"]
CMD ["serve", "--host", "0.0.0.0"]
