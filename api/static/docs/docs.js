"use strict";

// Swagger UI draws the OpenAPI document. It is a file of its own, so that the page needs no script in its HTML.
const place = document.getElementById("swagger-ui");
SwaggerUIBundle({
  url: place.dataset.url,
  domNode: place,
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: true,
  showCommonExtensions: true,
  showExtensions: true,
  tryItOutEnabled: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
});
